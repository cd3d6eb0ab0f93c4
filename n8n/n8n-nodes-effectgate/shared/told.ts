// What the gate said, as the member `effectgate` of the item: short, flat where it can be, and the same for every operation.
import type { IDataObject } from 'n8n-workflow';

import type { Travel } from './travel';
import type { Approval, Effect, Lease, Run } from './wire';

/** The five members with which a later node goes on; what an earlier answer said stays behind. */
export function onward({ run, owner, fence, flow, key }: Travel): Travel {
	return defined({ run, owner, fence, flow, key });
}

export function ofRun(run: Run): Travel {
	return defined({
		run: run.id,
		flow: run.flow,
		key: run.key,
		state: run.state,
		reason: run.reason ?? undefined,
		attempt: run.attempts,
		attempts_max: run.attempts_max,
		correlation_id: run.correlation_id ?? undefined,
		result: (run.result ?? undefined) as IDataObject | undefined,
		approval: run.approval ? ofApproval(run.approval) : undefined,
		effects: run.effects.length > 0 ? run.effects.map(ofEffect) : undefined,
	});
}

export function ofLease({ owner, fence, expires_at, renew_before }: Lease): Travel {
	return { owner, fence, lease_expires_at: expires_at, renew_before };
}

export function ofEffect(effect: Effect): IDataObject {
	const { id, type, target, provider, state, reason, external_id, provider_key, attempts } = effect;
	return defined({
		id,
		type,
		target,
		provider,
		state,
		reason: reason ?? undefined,
		external_id: external_id ?? undefined,
		provider_key,
		attempts,
	});
}

export function ofApproval(approval: Approval): IDataObject {
	return defined({
		id: approval.id,
		state: approval.state,
		outcome: approval.outcome ?? undefined,
		expires_at: approval.expires_at,
		audience: approval.audience,
		link: approval.link ?? undefined,
	});
}

function defined<T extends IDataObject>(members: T): T {
	return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as T;
}
