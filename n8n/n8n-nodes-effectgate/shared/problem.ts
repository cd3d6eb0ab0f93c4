// Turns the gate's problems into what n8n shows: the code and detail as the message, what to do as the description.
import type { IDataObject, INode, JsonObject } from 'n8n-workflow';
import { NodeApiError } from 'n8n-workflow';

import type { Problem } from './wire';

/** What a person at the workflow can do about a code. Codes that are not here show their page in the documentation. */
const ADVICE: Partial<Record<string, string>> = {
	bad_key: 'Build the key from stable fields of the event: its source, type, id and version.',
	missing_key: 'Give the key, or its four parts.',
	bad_lease: "Ask for a lease within the flow's bounds (lease_ms_min to lease_ms_max), or leave it out.",
	unknown_flow: 'Check the name of the flow against the config of the gate: "effectgate check" lists them.',
	unauthorized:
		'The API key in the credential is not known or was revoked. Make one with "effectgate key create --scopes worker".',
	forbidden:
		'The API key lacks the scope or the flow for this. Workers need the scope worker; Correct needs operator.',
	payload_conflict:
		'Do not retry. Either the key is too coarse (two events share it: put the version or the line id into it), or the sender changed an event after sending it: then it is a new event with its own key. If the payload carries headers or times of the delivery, give only the body of the event as payload.',
	invalid_payload: "The event does not fit the flow's payload_schema; the pointer names the member.",
	invalid_output: 'Show the errors to the model and propose again while repairs are left.',
	lease_lost:
		'Stop working on this run: its lease is over or somebody else has it. If the work is still wanted, reserve again; a longer lease or Renew between long steps prevents this.',
	effects_open: 'Settle every begun effect first (applied, refused, not sent or unknown).',
	effect_differs:
		'This effect was begun with other content. Begin it with the same payload, or use another target.',
	wrong_state: 'Look at the state of the run: from there this is no longer possible.',
	not_found: 'No such id for this API key: it belongs to another tenant or flow, or it was never made.',
	switch_off:
		'The kill switch is off: nothing leaves. The run is kept; it goes on when the switch is on again.',
	outcome_unknown: 'It may have happened. Do not send it again; a person settles it at the review desk.',
	budget_used_up: 'The budget for this window is used up. It goes in the next window.',
	database_unavailable: 'The gate cannot reach its database. Try again later: the same call is harmless.',
	commit_unknown: 'The gate does not know whether this was written. Try again: the same call is harmless.',
	contended: 'Try again: the same call is harmless.',
	too_many_requests:
		'This API key asks more than server.requests_per_second_max. Slow down, or batch the items.',
	correction_key: 'A correction needs a key of its own from upstream, not a suffix of the old one.',
	url_not_allowed: 'Add the address of this n8n to [n8n] url or allow_urls in the config of the gate.',
};

/** Faults of this one event: the flow branches on them. Everything else is a fault of the setup or of the way there. */
const OF_THE_EVENT = new Set([
	'bad_key',
	'missing_key',
	'payload_conflict',
	'invalid_payload',
	'key_poisoned',
	'duplicate_member',
	'lone_surrogate',
	'number_out_of_range',
	'invalid_utf8',
	'too_deep',
	'body_too_large',
]);

export function isOfTheEvent(problem: Problem): boolean {
	return OF_THE_EVENT.has(problem.code);
}

/** One or two sentences on what to do now. */
export function advice(problem: Problem): string {
	const known = ADVICE[problem.code];
	const page = problem.type && problem.type !== 'about:blank' ? `See ${problem.type}` : '';
	return [known, page].filter(Boolean).join(' ') || 'See the documentation of the gate.';
}

/** The error that n8n shows for a refusal. */
export function apiError(node: INode, problem: Problem, item?: number): NodeApiError {
	const at = problem.pointer ? ` at ${problem.pointer}` : '';
	return new NodeApiError(node, problem as unknown as JsonObject, {
		message: `${problem.detail || problem.title}${at} (${problem.code})`,
		description: advice(problem),
		httpCode: String(problem.status),
		itemIndex: item,
	});
}

/** A problem as a member of an item. Never with payloads: the gate's problems carry none. */
export function asData(problem: Problem): IDataObject {
	const { code, status, title, detail, pointer, retry_after_ms: retryAfter } = problem;
	const data: IDataObject = { code, status, title, detail, what_to_do: advice(problem) };
	if (pointer !== undefined) data.pointer = pointer;
	if (retryAfter !== undefined) data.retry_after_ms = retryAfter;
	return data;
}

/** A refusal that this node makes itself, in the shape of the gate's. */
export function ownProblem(code: string, detail: string): Problem {
	return {
		type: '',
		title: 'Refused by the node',
		status: 400,
		code,
		detail,
		error: { message: detail },
	} as Problem;
}
