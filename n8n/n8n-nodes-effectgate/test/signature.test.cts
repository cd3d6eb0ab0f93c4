import assert from 'node:assert/strict';
import { createHash, createHmac } from 'node:crypto';
import { describe, it } from 'node:test';

import { isSigned, signingKey } from '../shared/signature.ts';

const API_KEY = 'eg_worker_0123456789abcdef';
const NOW_MS = 1_796_000_000_000;
const BODY = Buffer.from('{"type":"approval.decided"}');

/** As the gate signs, by the rule of the documentation and not by the code under test. */
function signature(id: string, timestamp: string, body: Buffer, apiKey = API_KEY): string {
	const hash = createHash('sha256').update(apiKey).digest();
	const key = createHmac('sha256', hash).update('effectgate webhook signature v1').digest();
	return `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.${body.toString()}`).digest('base64')}`;
}

const at = (seconds = 0) => String(NOW_MS / 1000 + seconds);

describe('the signature of a delivery', () => {
	const good = () => ({ id: 'msg_1', timestamp: at(), signature: signature('msg_1', at(), BODY) });

	it('is taken when it is right', () => {
		assert.equal(isSigned(API_KEY, BODY, good(), NOW_MS), true);
	});

	it('is taken as one of several', () => {
		const { id, timestamp, signature: one } = good();
		assert.equal(
			isSigned(API_KEY, BODY, { id, timestamp, signature: `v1a,xx v1,AAAA ${one}` }, NOW_MS),
			true,
		);
	});

	it('is refused for another body, id, time or key', () => {
		assert.equal(isSigned(API_KEY, Buffer.from('{}'), good(), NOW_MS), false);
		assert.equal(isSigned(API_KEY, BODY, { ...good(), id: 'msg_2' }, NOW_MS), false);
		assert.equal(isSigned(API_KEY, BODY, { ...good(), timestamp: at(1) }, NOW_MS), false);
		assert.equal(isSigned('another-key', BODY, good(), NOW_MS), false);
	});

	it('is refused when it is old, or from the future', () => {
		for (const seconds of [-301, 301]) {
			const timestamp = at(seconds);
			const signed = { id: 'msg_1', timestamp, signature: signature('msg_1', timestamp, BODY) };
			assert.equal(isSigned(API_KEY, BODY, signed, NOW_MS), false);
		}
	});

	it('is refused when a part is missing or no number', () => {
		assert.equal(isSigned(API_KEY, BODY, { ...good(), signature: undefined }, NOW_MS), false);
		assert.equal(isSigned(API_KEY, BODY, { ...good(), id: ['a'] }, NOW_MS), false);
		assert.equal(isSigned(API_KEY, BODY, { ...good(), timestamp: 'now' }, NOW_MS), false);
		assert.equal(isSigned(API_KEY, BODY, { ...good(), signature: 'v1,' }, NOW_MS), false);
	});

	it('has a key that is not the API key', () => {
		assert.equal(signingKey(API_KEY).length, 32);
		assert.notDeepEqual(signingKey(API_KEY), createHash('sha256').update(API_KEY).digest());
	});
});
