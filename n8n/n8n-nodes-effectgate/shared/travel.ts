// What an item carries about its run, and where a later node finds it when other nodes in between have replaced the item:
// in the item, in the headers of a delivery by the gate, else at the nearest Effectgate or Webhook node before this one.
import type { IDataObject, IExecuteFunctions } from 'n8n-workflow';
import { NodeOperationError } from 'n8n-workflow';

/** The member `effectgate` of an item: strings and numbers to go on with, and what the last answer said. */
export interface Travel extends IDataObject {
	run?: string;
	owner?: string;
	fence?: number;
	flow?: string;
	key?: string;
}

/** The run of an item, with the right to work on it. */
export interface Held {
	run: string;
	owner: string;
	fence: number;
}

const OURS = /(^|\.)effectgate$/;
const WEBHOOK = 'n8n-nodes-base.webhook';

/** All that is known about this item's run; empty if nothing is. */
export function travelOf(context: IExecuteFunctions, item: number): Travel {
	const json = context.getInputData()[item].json;
	return fromJson(json) ?? fromNodesBefore(context, item) ?? {};
}

function fromJson(json: IDataObject | undefined): Travel | undefined {
	const member = json?.effectgate;
	if (isTravel(member)) return member;
	return fromHeaders(json?.headers as IDataObject | undefined);
}

function isTravel(member: unknown): member is Travel {
	return typeof member === 'object' && member !== null && typeof (member as Travel).run === 'string';
}

/** The headers under which the gate delivers an accepted event to a Webhook node. */
function fromHeaders(headers: IDataObject | undefined): Travel | undefined {
	const run = headers?.['effectgate-run'];
	if (typeof run !== 'string') return undefined;
	return {
		run,
		owner: text(headers?.['effectgate-owner']),
		fence: Number(headers?.['effectgate-fence']),
		flow: text(headers?.['effectgate-flow']),
		key: decoded(text(headers?.['effectgate-key'])),
	};
}

function text(value: unknown): string | undefined {
	return typeof value === 'string' ? value : undefined;
}

/** Keys outside ASCII come percent-encoded in headers; a key in ASCII comes as it is, its own `%3A` included. */
function decoded(key: string | undefined): string | undefined {
	try {
		const plain = decodeURIComponent(key ?? '');
		return /[^\x20-\x7e]/.test(plain) ? plain : key;
	} catch {
		return key;
	}
}

function fromNodesBefore(context: IExecuteFunctions, item: number): Travel | undefined {
	// n8n lists the farthest first.
	const before = context
		.getParentNodes(context.getNode().name)
		.filter(({ type, disabled }) => !disabled && (OURS.test(type) || type === WEBHOOK))
		.reverse();
	for (const { name } of before) {
		const found = fromJson(itemAt(context, name, item));
		if (found) return found;
	}
	return undefined;
}

/**
 * The item of that node to which this item belongs. Where the pairing is lost, the node's only item; if it had several,
 * none: a guess could settle another event's run.
 */
function itemAt(context: IExecuteFunctions, name: string, item: number): IDataObject | undefined {
	const node = `$(${JSON.stringify(name)})`;
	return (
		evaluated(context, `{{ ${node}.item.json }}`, item) ??
		evaluated(context, `{{ ${node}.all().length === 1 ? ${node}.first().json : undefined }}`, item)
	);
}

function evaluated(context: IExecuteFunctions, expression: string, item: number): IDataObject | undefined {
	try {
		const value: unknown = context.evaluateExpression(expression, item);
		return typeof value === 'object' && value !== null ? (value as IDataObject) : undefined;
	} catch {
		// The node did not run in this execution, or the pairing is lost.
		return undefined;
	}
}

/**
 * Run, owner and fence of this item: from the node's fields if it says so, else as they travel.
 * @throws NodeOperationError with what to do if there is no run to work on
 */
export function heldOf(context: IExecuteFunctions, item: number): Held {
	const given = context.getNodeParameter('leaseFrom', item, 'item') === 'fields';
	const from: Travel = given
		? {
				run: String(context.getNodeParameter('runId', item, '')).trim(),
				owner: String(context.getNodeParameter('owner', item, '')).trim(),
				fence: Number(context.getNodeParameter('fence', item, 0)),
			}
		: travelOf(context, item);
	const { run, owner, fence } = from;
	if (run && owner && fence) return { run, owner, fence };
	throw new NodeOperationError(context.getNode(), 'There is no lease for this item', {
		description: run
			? `The run ${run} is known, but not who works on it: only items of the output Acquired of a Reserve (or of a delivery by the gate) may go on.`
			: 'Put a Reserve before this node and connect its output Acquired, or give run, owner and fence as fields.',
		itemIndex: item,
	});
}

/** The run of this item; no lease is wanted, so a duplicate's is as good. */
export function runOf(context: IExecuteFunctions, item: number): string {
	const run = travelOf(context, item).run;
	if (run) return run;
	throw new NodeOperationError(context.getNode(), 'No run is known for this item', {
		description: 'Put an Effectgate node before this one, or find the run by its ID or its key.',
		itemIndex: item,
	});
}
