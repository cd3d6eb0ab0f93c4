// The operations under a lease that end in one output: renew, complete, fail. A refusal stops the item, because going on
// after it would be working on a run that belongs to somebody else.
import type { IDataObject, IExecuteFunctions } from 'n8n-workflow';

import { given, json, options, text } from '../../../shared/parameters';
import { send } from '../../../shared/request';
import { ofLease, ofRun, onward } from '../../../shared/told';
import { heldOf, travelOf, type Travel } from '../../../shared/travel';
import type { CompleteAnswer, FailAnswer, RenewAnswer } from '../../../shared/wire';
import { forEachItem, refused, type Outcome } from './operation';

/** Posts under the item's lease. */
async function under<T>(
	context: IExecuteFunctions,
	item: number,
	verb: string,
	members: object,
): Promise<{ before: Travel; body: T }> {
	const held = heldOf(context, item);
	const { run, owner, fence } = held;
	const path = `/v1/runs/${encodeURIComponent(run)}/${verb}`;
	const answer = await send<T>(context, 'POST', path, { owner, fence, ...given(members) }, undefined, item);
	if (!answer.ok) throw refused(context, answer.problem, item);
	return { before: onward({ ...travelOf(context, item), ...held }), body: answer.body };
}

export const renew = forEachItem(['Renewed'], async (context, item): Promise<Outcome> => {
	const { leaseMs } = options(context, item);
	const members = { lease_ms: leaseMs ? Number(leaseMs) : undefined };
	const { before, body } = await under<RenewAnswer>(context, item, 'renew', members);
	return { output: 0, effectgate: { ...before, ...ofLease(body.lease), answer: 'renewed' } };
});

export const complete = forEachItem(['Completed'], async (context, item): Promise<Outcome> => {
	const result = json(context, 'result', item, 'Result');
	const { before, body } = await under<CompleteAnswer>(context, item, 'complete', { result });
	return {
		output: 0,
		effectgate: { ...before, ...ofRun(body.run), answer: 'completed', repeated: body.repeated },
	};
});

export const fail = forEachItem(['Failed'], async (context, item): Promise<Outcome> => {
	const members = {
		class: context.getNodeParameter('failClass', item) as string,
		message: text(context, 'failMessage', item),
	};
	const { before, body } = await under<FailAnswer>(context, item, 'fail', members);
	const effectgate: IDataObject = {
		...before,
		...ofRun(body.run),
		answer: 'failed',
		retry: body.retry,
		attempts_left: body.attempts_left,
		repeated: body.repeated,
	};
	if (body.next_attempt_at) effectgate.next_attempt_at = body.next_attempt_at;
	return { output: 0, effectgate };
});
