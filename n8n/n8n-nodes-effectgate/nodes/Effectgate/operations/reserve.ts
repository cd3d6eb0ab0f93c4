// Reserve: who may work on this event. One item goes to Acquired for each key, whoever else is asking at the same moment;
// everything that is not a fresh grant to this very owner ends on one of the other outputs.
import type { IExecuteFunctions } from 'n8n-workflow';

import { executionOf, ownerOf } from '../../../shared/owner';
import { given, json, options, worded } from '../../../shared/parameters';
import { asData, isOfTheEvent } from '../../../shared/problem';
import { send, type Answer } from '../../../shared/request';
import { ofLease, ofRun } from '../../../shared/told';
import type { Problem, ReserveAnswer, ReserveRequest } from '../../../shared/wire';
import { isRefused, keyOf } from './key';
import { asError, refused, type Operation, type Outcome } from './operation';

const ACQUIRED = 0;
const DUPLICATE = 1;
const PROBLEM = 2;

// The gate takes 100 in one request, and a body of 1 MiB unless configured otherwise: well below both.
const BATCH_ITEMS = 100;
const BATCH_CHARACTERS = 200_000;

export const reserve: Operation = {
	outputs: ['Acquired', 'Duplicate', 'Problem'],
	trouble: PROBLEM,
	async perform(context, items) {
		const outcomes: Array<Outcome | Error> = [];
		const asked: Array<{ item: number; request: ReserveRequest }> = [];
		for (const item of items) {
			try {
				const request = requestOf(context, item);
				if ('code' in request) outcomes[item] = trouble(request as Problem);
				else asked.push({ item, request: request as ReserveRequest });
			} catch (error) {
				outcomes[item] = asError(error);
			}
		}
		if (!context.continueOnFail() && outcomes.some((outcome) => outcome instanceof Error)) return outcomes;
		for (const batch of batches(asked)) {
			const answers = await ask(context, batch).catch((error: unknown) => asError(error));
			for (const [index, { item }] of batch.entries()) {
				outcomes[item] = answers instanceof Error ? answers : outcomeOf(context, answers[index], item);
			}
		}
		return outcomes;
	},
};

/** The request for an item, or why its key is none. */
export function requestOf(
	context: IExecuteFunctions,
	item: number,
	payload?: unknown,
): ReserveRequest | Problem {
	const key = keyOf(context, item);
	if (isRefused(key)) return key;
	const { leaseMs, correlationId, sourceUrl } = options(context, item);
	return given({
		flow: String(context.getNodeParameter('flow', item)).trim(),
		...key,
		payload: payload === undefined ? json(context, 'payload', item, 'Payload') : payload,
		owner: ownerOf(context, item),
		lease_ms: leaseMs ? Number(leaseMs) : undefined,
		correlation_id: worded(correlationId),
		source_url: worded(sourceUrl),
		execution: executionOf(context),
	}) as ReserveRequest;
}

function* batches(asked: Array<{ item: number; request: ReserveRequest }>) {
	let batch: typeof asked = [];
	let size = 0;
	for (const one of asked) {
		const length = JSON.stringify(one.request).length;
		if (batch.length > 0 && (batch.length === BATCH_ITEMS || size + length > BATCH_CHARACTERS)) {
			yield batch;
			batch = [];
			size = 0;
		}
		batch.push(one);
		size += length;
	}
	if (batch.length > 0) yield batch;
}

async function ask(
	context: IExecuteFunctions,
	batch: Array<{ item: number; request: ReserveRequest }>,
): Promise<Array<Answer<ReserveAnswer>>> {
	if (batch.length === 1) {
		const [{ item, request }] = batch;
		return [await send<ReserveAnswer>(context, 'POST', '/v1/runs', request, undefined, item)];
	}
	const runs = batch.map(({ request }) => request);
	const answer = await send<{ answers: Array<{ status: number; body: unknown }> }>(
		context,
		'POST',
		'/v1/runs/batch',
		{
			runs,
		},
	);
	if (!answer.ok) return batch.map(() => answer);
	return answer.body.answers.map(({ status, body }) =>
		status < 300
			? { ok: true, status, body: body as ReserveAnswer }
			: { ok: false, status, problem: body as Problem },
	);
}

function outcomeOf(context: IExecuteFunctions, answer: Answer<ReserveAnswer>, item: number): Outcome | Error {
	if (!answer.ok)
		return isOfTheEvent(answer.problem) ? trouble(answer.problem) : refused(context, answer.problem, item);
	const { answer: said, run, lease, repeated, retry_after_ms: retryAfter } = answer.body;
	if (said === 'granted' && lease) {
		return {
			output: ACQUIRED,
			effectgate: { ...ofRun(run), ...ofLease(lease), answer: said, repeated: repeated === true },
		};
	}
	const effectgate = { ...ofRun(run), answer: said, ...(retryAfter ? { retry_after_ms: retryAfter } : {}) };
	return { output: DUPLICATE, effectgate };
}

/** A fault of this event: a branch, not a failed execution, because trying again would change nothing. */
function trouble(problem: Problem): Outcome {
	return {
		output: PROBLEM,
		effectgate: { ...(problem.run ? ofRun(problem.run) : {}), answer: 'refused', problem: asData(problem) },
	};
}
