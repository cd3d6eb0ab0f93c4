// What every operation is made of, and the loop over the items: each item has its own call, its own answer and its own
// branch. An item that fails ends on the branch for trouble, never on the one that goes on to an effect.
import type { IDataObject, IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';
import { NodeApiError, NodeOperationError } from 'n8n-workflow';

import { apiError, asData } from '../../../shared/problem';
import { onward } from '../../../shared/told';
import { travelOf, type Travel } from '../../../shared/travel';
import type { Problem } from '../../../shared/wire';

/** Where an item goes, and what it says there. */
export interface Outcome {
	output: number;
	/** Becomes the item's member `effectgate`. */
	effectgate: Travel;
	/** Instead of the item as it came in. */
	json?: IDataObject;
}

export interface Operation {
	/** The names of the outputs, in order. */
	outputs: readonly string[];
	/** The output of items that failed, where the node continues on failures. */
	trouble: number;
	/** One outcome for each item, in order. An error in a place is that item's own. */
	perform(context: IExecuteFunctions, items: number[]): Promise<Array<Outcome | Error>>;
}

/** An operation that asks the gate once for each item. */
export function forEachItem(
	outputs: readonly string[],
	one: (context: IExecuteFunctions, item: number) => Promise<Outcome>,
): Operation {
	return {
		outputs,
		trouble: outputs.length - 1,
		async perform(context, items) {
			const outcomes: Array<Outcome | Error> = [];
			for (const item of items) {
				const outcome = await one(context, item).catch((error: unknown) => asError(error));
				outcomes.push(outcome);
				// Nothing is asked for the items behind one that stops the node.
				if (outcome instanceof Error && !context.continueOnFail()) break;
			}
			return outcomes;
		},
	};
}

export function asError(error: unknown): Error {
	return error instanceof Error ? error : new Error(String(error));
}

/** The error for a refusal that is not a branch of this operation; it remembers the problem. */
export function refused(context: IExecuteFunctions, problem: Problem, item: number): Error {
	const error = apiError(context.getNode(), problem, item);
	error.context.problem = asData(problem);
	return error;
}

/** Runs the operation for all items and sorts them into its outputs. */
export async function run(context: IExecuteFunctions, operation: Operation): Promise<INodeExecutionData[][]> {
	const items = context.getInputData();
	const outcomes = await operation.perform(context, [...items.keys()]);
	const outputs: INodeExecutionData[][] = operation.outputs.map(() => []);
	const first = outcomes.findIndex((outcome) => outcome instanceof Error);
	if (first >= 0 && !context.continueOnFail()) throw shown(context, outcomes[first] as Error, first);
	for (const [item, outcome] of outcomes.entries()) {
		if (outcome instanceof Error) {
			outputs[operation.trouble].push(failed(context, outcome, item));
		} else {
			outputs[outcome.output].push(done(items[item], outcome, item));
		}
	}
	return outputs;
}

function done(input: INodeExecutionData, { json, effectgate }: Outcome, item: number): INodeExecutionData {
	return {
		json: { ...(json ?? input.json), effectgate },
		binary: input.binary,
		pairedItem: { item },
	};
}

function failed(context: IExecuteFunctions, error: Error, item: number): INodeExecutionData {
	const shownError = shown(context, error, item);
	const problem = shownError.context.problem as IDataObject | undefined;
	const effectgate: Travel = {
		...onward(travelOf(context, item)),
		answer: 'failed',
		problem: problem ?? {
			code: 'node_error',
			detail: shownError.message,
			what_to_do: shownError.description ?? '',
		},
	};
	return {
		json: { ...context.getInputData()[item].json, error: shownError.message, effectgate },
		error: shownError,
		pairedItem: { item },
	};
}

function shown(context: IExecuteFunctions, error: Error, item: number): NodeApiError | NodeOperationError {
	if (error instanceof NodeApiError || error instanceof NodeOperationError) return error;
	return new NodeOperationError(context.getNode(), error, { itemIndex: item });
}
