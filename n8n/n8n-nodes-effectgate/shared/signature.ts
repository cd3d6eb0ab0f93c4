// Deliveries to a trigger are signed as Standard Webhooks says, with a key that both sides derive from the API key. So
// nothing secret lies in the workflow's static data, which n8n's own API gives out in clear.
import { createHash, createHmac, timingSafeEqual } from 'crypto';

const PURPOSE = 'effectgate webhook signature v1';

/** How far the clocks may differ, and how old a recorded delivery may be when somebody plays it again. */
const TOLERANCE_S = 300;

export interface Signed {
	id: unknown;
	timestamp: unknown;
	signature: unknown;
}

/** The key of the signatures for this API key. The gate keeps only the same SHA-256 of it. */
export function signingKey(apiKey: string): Buffer {
	const secretHash = createHash('sha256').update(apiKey, 'utf8').digest();
	return createHmac('sha256', secretHash).update(PURPOSE, 'utf8').digest();
}

/** Whether these bytes come from the gate, now. Several signatures may be given; one that fits is enough. */
export function isSigned(
	apiKey: string,
	body: Buffer,
	{ id, timestamp, signature }: Signed,
	nowMs = Date.now(),
): boolean {
	if (typeof id !== 'string' || typeof timestamp !== 'string' || typeof signature !== 'string') return false;
	if (!/^\d{1,12}$/.test(timestamp) || Math.abs(nowMs / 1000 - Number(timestamp)) > TOLERANCE_S) return false;
	const wanted = createHmac('sha256', signingKey(apiKey))
		.update(`${id}.${timestamp}.`, 'utf8')
		.update(body)
		.digest();
	return signature
		.split(' ')
		.filter((one) => one.startsWith('v1,'))
		.map((one) => Buffer.from(one.slice(3), 'base64'))
		.some((one) => one.length === wanted.length && timingSafeEqual(one, wanted));
}
