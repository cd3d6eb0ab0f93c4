// The guided form for the key: four fields of the event, or a whole key, looked at before the gate is asked.
import type { IExecuteFunctions } from 'n8n-workflow';

import { refuseExpression, refuseHoles, refuseMadeUpstream, refuseValue } from '../../../shared/key';
import { ownProblem } from '../../../shared/problem';
import type { Problem, ReserveRequest } from '../../../shared/wire';

type Given = Pick<ReserveRequest, 'key' | 'key_parts'>;

const PARTS = [
	['source', 'keySource', 'Source'],
	['event_type', 'keyEventType', 'Event Type'],
	['external_id', 'keyExternalId', 'External ID'],
	['version', 'keyVersion', 'Version'],
] as const;

/** A version may well be the moment of a change, and an event may have just changed. */
const MAY_BE_RECENT = 'keyVersion';

/** The members of a reservation that name the event, or why they cannot. */
export function keyOf(context: IExecuteFunctions, item: number): Given | Problem {
	if (context.getNodeParameter('keyMode', item, 'parts') === 'whole') {
		const key: unknown = context.getNodeParameter('key', item);
		return refusal(context, 'key', 'Key', key, item) ?? { key: String(key).trim() };
	}
	const parts: Record<string, string> = {};
	for (const [member, parameter, label] of PARTS) {
		const value: unknown = context.getNodeParameter(parameter, item);
		const refused = refusal(context, parameter, label, value, item);
		if (refused) return refused;
		parts[member] = String(value).trim();
	}
	return { key_parts: parts as NonNullable<Given['key_parts']> };
}

export function isRefused(given: Given | Problem): given is Problem {
	return 'code' in given;
}

function refusal(
	context: IExecuteFunctions,
	parameter: string,
	label: string,
	value: unknown,
	item: number,
): Problem | undefined {
	const raw = context.getNode().parameters[parameter];
	const said =
		refuseExpression(label, raw) ??
		refuseValue(label, value) ??
		refuseHoles(context, label, raw, item) ??
		(parameter === MAY_BE_RECENT ? undefined : refuseMadeUpstream(context, label, value));
	return said === undefined ? undefined : ownProblem('bad_key', said);
}
