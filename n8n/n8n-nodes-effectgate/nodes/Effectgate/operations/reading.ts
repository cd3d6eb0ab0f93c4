// The operations that look at a run or say a new thing about a finished one: get, explain, correct.
import type { IDataObject, IExecuteFunctions } from 'n8n-workflow';
import { NodeOperationError } from 'n8n-workflow';

import { executionOf } from '../../../shared/owner';
import { given, json, text, wanted } from '../../../shared/parameters';
import { apiError } from '../../../shared/problem';
import { send } from '../../../shared/request';
import { ofRun, onward } from '../../../shared/told';
import { runOf, travelOf } from '../../../shared/travel';
import type { CorrectAnswer, Explanation, Run } from '../../../shared/wire';
import { isRefused, keyOf } from './key';
import { forEachItem, refused, type Outcome } from './operation';

/** The id of the run that the node's fields name. */
async function found(context: IExecuteFunctions, item: number): Promise<string> {
	switch (context.getNodeParameter('runFrom', item, 'item')) {
		case 'id':
			return wanted(context, 'runId', item, 'Run ID');
		case 'key':
			return await byKey(context, item);
		default:
			return runOf(context, item);
	}
}

async function byKey(context: IExecuteFunctions, item: number): Promise<string> {
	const flow = wanted(context, 'findFlow', item, 'Flow');
	const key = wanted(context, 'findKey', item, 'Key');
	const answer = await send<{ runs: Run[] }>(context, 'GET', '/v1/runs', undefined, { flow, key }, item);
	if (!answer.ok) throw refused(context, answer.problem, item);
	const [run] = answer.body.runs;
	if (run) return run.id;
	throw new NodeOperationError(context.getNode(), `No run of the flow ${flow} has the key ${key}`, {
		description: 'Nothing was ever reserved under it, or its record is past its retention.',
		itemIndex: item,
	});
}

export const getRun = forEachItem(['Run'], async (context, item): Promise<Outcome> => {
	const id = await found(context, item);
	const answer = await send<Run>(
		context,
		'GET',
		`/v1/runs/${encodeURIComponent(id)}`,
		undefined,
		undefined,
		item,
	);
	if (!answer.ok) throw refused(context, answer.problem, item);
	const run = answer.body;
	return {
		output: 0,
		json: run as unknown as IDataObject,
		effectgate: { ...sameRun(context, item, run.id), ...ofRun(run), answer: 'read' },
	};
});

export const explain = forEachItem(['Explanation'], async (context, item): Promise<Outcome> => {
	const id = await found(context, item);
	const path = `/v1/runs/${encodeURIComponent(id)}/explain`;
	const answer = await send<Explanation>(context, 'GET', path, undefined, undefined, item);
	if (!answer.ok) throw refused(context, answer.problem, item);
	const { run_id: run, key, flow, state } = answer.body;
	return {
		output: 0,
		json: answer.body as unknown as IDataObject,
		effectgate: { ...sameRun(context, item, run), run, key, flow, state, answer: 'read' },
	};
});

export const correct = forEachItem(['Corrected'], async (context, item): Promise<Outcome> => {
	const id = await found(context, item);
	const key = keyOf(context, item);
	if (isRefused(key)) throw apiError(context.getNode(), key, item);
	const request = given({
		...key,
		flow: text(context, 'correctFlow', item),
		payload: json(context, 'payload', item, 'Payload'),
		reason: wanted(context, 'reason', item, 'Reason'),
		trigger: executionOf(context),
	});
	const path = `/v1/runs/${encodeURIComponent(id)}/correct`;
	const answer = await send<CorrectAnswer>(context, 'POST', path, request, undefined, item);
	if (!answer.ok) throw refused(context, answer.problem, item);
	return { output: 0, effectgate: { ...ofRun(answer.body.run), answer: answer.body.answer, corrects: id } };
});

/** Owner and fence go on with the item if it is the same run that was looked at. */
function sameRun(context: IExecuteFunctions, item: number, run: string): IDataObject {
	const travelling = travelOf(context, item);
	return travelling.run === run ? onward(travelling) : {};
}
