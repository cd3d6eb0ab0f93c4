// Effects that the workflow performs itself. Begin writes the marker before the effect; only a fresh marker goes on, so
// what was begun before is never sent a second time. Settle says how it went.
import type { IDataObject } from 'n8n-workflow';
import { NodeOperationError } from 'n8n-workflow';

import { given, json, text, wanted } from '../../../shared/parameters';
import { asData } from '../../../shared/problem';
import { send } from '../../../shared/request';
import { ofEffect, ofRun, onward } from '../../../shared/told';
import { heldOf, travelOf } from '../../../shared/travel';
import type { BeginAnswer, SettleAnswer } from '../../../shared/wire';
import { forEachItem, refused, type Outcome } from './operation';

const BEGUN = 0;
const KNOWN = 1;

/** The switch, a budget: the effect must not be performed now, and that is no failure of the workflow. */
const HELD_BACK = new Set(['switch_off', 'budget_used_up', 'lease_lost']);

export const begin = forEachItem(['Begun', 'Known'], async (context, item): Promise<Outcome> => {
	const held = heldOf(context, item);
	const { run, owner, fence } = held;
	const request = given({
		owner,
		fence,
		type: wanted(context, 'effectType', item, 'Effect Type'),
		target: text(context, 'target', item),
		payload: json(context, 'effectPayload', item, 'Payload'),
	});
	const path = `/v1/runs/${encodeURIComponent(run)}/effects`;
	const answer = await send<BeginAnswer>(context, 'POST', path, request, undefined, item);
	const before = onward({ ...travelOf(context, item), ...held });
	if (!answer.ok) {
		const { problem } = answer;
		if (!HELD_BACK.has(problem.code)) throw refused(context, problem, item);
		const now = problem.run ? ofRun(problem.run) : {};
		return {
			output: KNOWN,
			effectgate: { ...before, ...now, answer: 'held_back', problem: asData(problem) },
		};
	}
	const { begun, effect, repeated } = answer.body;
	return {
		output: begun ? BEGUN : KNOWN,
		effectgate: { ...before, answer: begun ? 'begun' : 'known', repeated, effect: ofEffect(effect) },
	};
});

export const settle = forEachItem(['Settled'], async (context, item): Promise<Outcome> => {
	const held = heldOf(context, item);
	const { owner, fence } = held;
	const travelling = travelOf(context, item);
	const effect =
		text(context, 'effectId', item) ??
		((travelling.effect as IDataObject | undefined)?.id as string | undefined);
	if (!effect) {
		throw new NodeOperationError(context.getNode(), 'No begun effect is known for this item', {
			description: 'Put a Begin before this node, or give the effect ID.',
			itemIndex: item,
		});
	}
	const request = given({
		owner,
		fence,
		outcome: context.getNodeParameter('outcome', item) as string,
		external_id: text(context, 'externalId', item),
		message: text(context, 'settleMessage', item),
	});
	const path = `/v1/effects/${encodeURIComponent(effect)}/settle`;
	const answer = await send<SettleAnswer>(context, 'POST', path, request, undefined, item);
	if (!answer.ok) throw refused(context, answer.problem, item);
	const { changed, repeated, effect: now } = answer.body;
	return {
		output: 0,
		effectgate: {
			...onward({ ...travelling, ...held }),
			answer: 'settled',
			changed,
			repeated,
			effect: ofEffect(now),
		},
	};
});
