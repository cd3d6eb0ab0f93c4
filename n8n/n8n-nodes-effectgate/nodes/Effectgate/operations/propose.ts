// Propose: hands in what the model made. The gate checks it and decides who decides; this node only sorts the item.
import type { IDataObject, IExecuteFunctions } from 'n8n-workflow';
import { NodeOperationError } from 'n8n-workflow';

import { given, json, options, worded } from '../../../shared/parameters';
import { asData, ownProblem } from '../../../shared/problem';
import { send } from '../../../shared/request';
import { ofRun, onward } from '../../../shared/told';
import { heldOf, travelOf, type Held, type Travel } from '../../../shared/travel';
import type { FailAnswer, Problem, ProposalAnswer } from '../../../shared/wire';
import { forEachItem, refused, type Outcome } from './operation';

const QUEUED = 0;
const WAITING = 1;
const REPAIR = 2;
const STOPPED = 3;

/** What ends this item's work without being a fault of the setup. */
const STOPS = new Set(['invalid_output', 'lease_lost', 'wrong_state', 'effects_open', 'payload_conflict']);

export const propose = forEachItem(
	['Queued', 'Waiting for a Person', 'Repair', 'Stopped'],
	async (context, item): Promise<Outcome> => {
		const held = heldOf(context, item);
		const answer = await send<ProposalAnswer>(
			context,
			'POST',
			`/v1/runs/${encodeURIComponent(held.run)}/proposal`,
			requestOf(context, item, held),
			undefined,
			item,
		);
		const before = onward({ ...travelOf(context, item), ...held });
		if (!answer.ok) {
			if (!STOPS.has(answer.problem.code)) throw refused(context, answer.problem, item);
			if (isSameAgain(context, answer.problem, item)) return await sameAgain(context, item, held, before);
			return stopped(before, answer.problem);
		}
		const { answer: said, run, approval, repeated } = answer.body;
		const effectgate = {
			...before,
			...ofRun({ ...run, approval: approval ?? run.approval }),
			answer: said,
			repeated,
		};
		if (said === 'queued') return { output: QUEUED, effectgate };
		if (said === 'waiting') return { output: WAITING, effectgate };
		return { output: STOPPED, effectgate };
	},
);

/** Repair as long as the gate still holds the run for another try; the run's state says so, not the count. */
function stopped(before: IDataObject, problem: Problem): Outcome {
	const goesOn = problem.code === 'invalid_output' && problem.run?.state === 'processing';
	return {
		output: goesOn ? REPAIR : STOPPED,
		effectgate: {
			...before,
			...(problem.run ? ofRun(problem.run) : {}),
			answer: goesOn ? 'repair' : 'stopped',
			...(problem.errors ? { errors: problem.errors as IDataObject[] } : {}),
			...(problem.repairs_left === undefined ? {} : { repairs_left: problem.repairs_left }),
			problem: asData(problem),
		},
	};
}

/**
 * In a loop of repairs a model may give the very output again that was refused. To the gate that is the same call, which
 * gets the same answer and uses up no repair, so the loop would never end.
 */
function isSameAgain(context: IExecuteFunctions, problem: Problem, item: number): boolean {
	return problem.code === 'invalid_output' && problem.repeated === true && runIndex(context, item) > 0;
}

function runIndex(context: IExecuteFunctions, item: number): number {
	return Number(context.evaluateExpression('{{ $runIndex }}', item));
}

/** Reports the failed repair as what it is, so that the gate counts it and the loop ends by the flow's bound. */
async function sameAgain(
	context: IExecuteFunctions,
	item: number,
	{ run, owner, fence }: Held,
	before: Travel,
): Promise<Outcome> {
	const answer = await send<FailAnswer>(
		context,
		'POST',
		`/v1/runs/${encodeURIComponent(run)}/fail`,
		{
			owner,
			fence,
			class: 'schema_invalid',
			message: `the model gave the same invalid output again (turn ${runIndex(context, item)})`,
		},
		undefined,
		item,
	);
	if (!answer.ok) return stopped(before, answer.problem);
	const problem = ownProblem('invalid_output', 'The model gave the same invalid output again.');
	return stopped(before, { ...problem, run: answer.body.run });
}

function requestOf(context: IExecuteFunctions, item: number, { owner, fence }: Held): object {
	const more = options(context, item);
	const model = given({
		provider_class: worded(more.modelProviderClass),
		name: worded(more.modelName),
		revision: worded(more.modelRevision),
		prompt_revision: worded(more.promptRevision),
	});
	return given({
		owner,
		fence,
		...output(context, item),
		effects: effects(context, item),
		finish_reason: worded(more.finishReason),
		agent_iterations: more.agentIterations === undefined ? undefined : Number(more.agentIterations),
		model: Object.keys(model).length > 0 ? model : undefined,
		requested_by: worded(more.requestedBy),
		summary: worded(more.summary),
		source_url: worded(more.sourceUrl),
	});
}

/** Text goes to the gate as it is: it takes the one JSON value out, and refuses a text that holds two. */
function output(context: IExecuteFunctions, item: number): object {
	switch (context.getNodeParameter('outputFormat', item)) {
		case 'text': {
			const value: unknown = context.getNodeParameter('outputText', item, '');
			if (value === undefined || value === null || value === '') {
				throw new NodeOperationError(context.getNode(), 'The output of the model is empty', {
					description:
						'Take the field in which the model node puts its text, such as {{ $json.output }} or {{ $json.text }}.',
					itemIndex: item,
				});
			}
			return typeof value === 'object' ? { output: value } : { output_text: String(value) };
		}
		case 'json':
			return { output: json(context, 'output', item, 'Output') };
		default:
			return {};
	}
}

function effects(context: IExecuteFunctions, item: number): object[] | undefined {
	const from = context.getNodeParameter('effectsFrom', item);
	if (from === 'flow') return undefined;
	if (from === 'json') {
		const list = json(context, 'effectsJson', item, 'Effects');
		return (Array.isArray(list) ? list : [list]) as object[];
	}
	const rows = context.getNodeParameter('effects.values', item, []) as IDataObject[] | undefined;
	// A proposal of no effects ends the run as done: right where a flow means it, and never what an empty field means.
	if (!rows?.length) {
		throw new NodeOperationError(context.getNode(), 'There is no effect to propose', {
			description:
				'Add an effect; if the field is an expression, the item has no such member. A run that needs no effect is ended with Complete.',
			itemIndex: item,
		});
	}
	return rows.map((row) =>
		given({
			type: worded(row.type),
			target: worded(row.target),
			payload: payload(context, row.payload, item),
		}),
	);
}

function payload(context: IExecuteFunctions, value: unknown, item: number): unknown {
	if (typeof value !== 'string') return value;
	try {
		return JSON.parse(value) as unknown;
	} catch (error) {
		throw new NodeOperationError(
			context.getNode(),
			`The payload of an effect is not JSON: ${(error as Error).message}`,
			{
				description:
					'Use an expression that gives the value itself, such as {{ $json.reply }}, or write valid JSON.',
				itemIndex: item,
			},
		);
	}
}
