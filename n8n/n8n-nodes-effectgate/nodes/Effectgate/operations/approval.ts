// Approvals. Send and Wait parks the execution until the gate says that the decision is there, and then reads the decision
// back from the gate: whoever holds the resume address decides nothing with it. n8n's own limit of a wait is not used,
// because it lets the workflow go on; the gate's expiry comes back as a state of its own.
import type {
	IDataObject,
	IExecuteFunctions,
	INodeExecutionData,
	IWebhookFunctions,
	IWebhookResponseData,
} from 'n8n-workflow';
import { NodeApiError, NodeOperationError, WAIT_INDEFINITELY } from 'n8n-workflow';

import { apiError } from '../../../shared/problem';
import { given, json, options, text, wanted } from '../../../shared/parameters';
import { send } from '../../../shared/request';
import { ofApproval, onward } from '../../../shared/told';
import { travelOf, type Travel } from '../../../shared/travel';
import type {
	Approval,
	Lease,
	Problem,
	ProposalAnswer,
	ReserveAnswer,
	ResumeAnswer,
	ResumeRequest,
	Run,
} from '../../../shared/wire';
import { forEachItem, refused, type Outcome } from './operation';
import { requestOf } from './reserve';

/** Either the execution waits now, or there is nothing to wait for. */
type Step = { waits: true } | { waits: false; decision: IDataObject; effectgate: Travel };

const WAITS: Step = { waits: true };

export const getApproval = forEachItem(['Approval'], async (context, item): Promise<Outcome> => {
	const approval = await read(context, approvalId(context, item), item);
	return {
		output: 0,
		json: approval as unknown as IDataObject,
		effectgate: { ...onward(travelOf(context, item)), run: approval.run_id, answer: 'read' },
	};
});

/** Parks the execution; its items come out of `resumed` when the decision is there. */
export async function sendAndWait(context: IExecuteFunctions): Promise<INodeExecutionData[][]> {
	const items = context.getInputData();
	if (items.length > 1) {
		throw new NodeOperationError(
			context.getNode(),
			`Send and Wait asks about one item, and ${items.length} came in`,
			{
				description:
					'An execution waits once, for one decision. Put Loop Over Items with a batch size of 1 before this node, or give each item its own execution.',
			},
		);
	}
	try {
		const step = asks(context) ? await ask(context) : await join(context);
		if (!step.waits) return [[item(step.decision, step.effectgate)]];
		await context.putExecutionToWait(WAIT_INDEFINITELY);
		return [items];
	} catch (error) {
		const shown = shownAs(context, error);
		if (!context.continueOnFail()) throw shown;
		return [[denied(shown)]];
	}
}

function shownAs(context: IExecuteFunctions, error: unknown): NodeApiError | NodeOperationError {
	if (error instanceof NodeApiError || error instanceof NodeOperationError) return error;
	return new NodeOperationError(context.getNode(), error as Error);
}

/** The Human review tool for agents has no approval to join: it always asks. */
function asks(context: IExecuteFunctions): boolean {
	return (
		context.getNode().type.endsWith('HitlTool') ||
		context.getNodeParameter('waitFor', 0, 'question') === 'question'
	);
}

function item(decision: IDataObject, effectgate: Travel): INodeExecutionData {
	return { json: { data: decision, effectgate }, pairedItem: { item: 0 } };
}

/** Where a failure does not stop the workflow, it is no approval. */
function denied(error: NodeApiError | NodeOperationError): INodeExecutionData {
	const decision = { approved: false, state: 'failed', message: error.message };
	return { ...item(decision, { answer: 'failed' }), error };
}

// --- an approval that a Propose made -----------------------------------------------------------------------------------

function approvalId(context: IExecuteFunctions, at: number): string {
	const fieldOf = text(context, 'approvalId', at);
	if (fieldOf) return fieldOf;
	const approval = travelOf(context, at).approval as IDataObject | undefined;
	if (typeof approval?.id === 'string') return approval.id;
	throw new NodeOperationError(context.getNode(), 'No approval is known for this item', {
		description:
			'Connect the output "Waiting for a Person" of a Propose to this node, or give the approval ID.',
		itemIndex: at,
	});
}

async function join(context: IExecuteFunctions): Promise<Step> {
	const id = approvalId(context, 0);
	const approval = await read(context, id, 0);
	if (approval.state !== 'open') return decided(context, approval);
	return await resumeAt(context, id);
}

/** Tells the gate where this execution waits. If the decision comes in this very moment, the gate resumes at once. */
async function resumeAt(context: IExecuteFunctions, id: string): Promise<Step> {
	const path = `/v1/approvals/${encodeURIComponent(id)}/resume`;
	const answer = await send<ResumeAnswer>(context, 'PUT', path, resumeOf(context), undefined, 0);
	if (!answer.ok) throw apiError(context.getNode(), answer.problem, 0);
	return WAITS;
}

function resumeOf(context: IExecuteFunctions): ResumeRequest {
	return {
		url: context.getSignedResumeUrl(),
		execution: context.getExecutionId(),
		node: context.getNode().id,
	};
}

async function read(context: IExecuteFunctions, id: string, at: number): Promise<Approval> {
	const path = `/v1/approvals/${encodeURIComponent(id)}`;
	const answer = await send<Approval>(context, 'GET', path, undefined, undefined, at);
	if (!answer.ok) throw refused(context, answer.problem, at);
	return answer.body;
}

function decided(context: IExecuteFunctions, approval: Approval): Step {
	const travelling = { ...onward(travelOf(context, 0)), run: approval.run_id };
	return {
		waits: false,
		decision: decisionOf(approval),
		effectgate: { ...travelling, approval: ofApproval(approval) },
	};
}

// --- a question of its own ----------------------------------------------------------------------------------------------

async function ask(context: IExecuteFunctions): Promise<Step> {
	const question = questionOf(context);
	const request = requestOf(context, 0, question);
	if ('code' in request) throw apiError(context.getNode(), request as Problem, 0);
	const answer = await send<ReserveAnswer>(context, 'POST', '/v1/runs', request, undefined, 0);
	if (!answer.ok) throw apiError(context.getNode(), answer.problem, 0);
	const { answer: said, run, lease } = answer.body;
	if (said === 'granted' && lease) return await propose(context, run, lease, question);
	if (said === 'busy') throw busy(context, run);
	return await askedBefore(context, run);
}

function questionOf(context: IExecuteFunctions): IDataObject {
	const details = json(context, 'details', 0, 'Details') as IDataObject | undefined;
	// Somebody would agree to what they were not shown.
	if (details === undefined || details === null) {
		throw new NodeOperationError(context.getNode(), 'Details is empty', {
			description: 'Leave {} in the field for no details; if it is an expression, the item has no such member.',
		});
	}
	const question = wanted(context, 'message', 0, 'Message');
	return Object.keys(details).length > 0 ? { question, details } : { question };
}

async function propose(
	context: IExecuteFunctions,
	run: Run,
	lease: Lease,
	question: IDataObject,
): Promise<Step> {
	const { summary, requestedBy } = options(context, 0);
	const answer = await send<ProposalAnswer>(
		context,
		'POST',
		`/v1/runs/${encodeURIComponent(run.id)}/proposal`,
		given({
			owner: lease.owner,
			fence: lease.fence,
			output: question,
			effects: [
				{
					type: wanted(context, 'questionType', 0, 'Question Type'),
					target: target(context),
					payload: question,
				},
			],
			summary: (summary as string) || (question.question as string),
			requested_by: (requestedBy as string) || undefined,
			resume: resumeOf(context),
		}),
		undefined,
		0,
	);
	if (!answer.ok) throw apiError(context.getNode(), answer.problem, 0);
	if (answer.body.answer === 'waiting') return WAITS;
	return goneByItself(answer.body.run);
}

/** What the question is about, as the card names it. */
function target(context: IExecuteFunctions): string {
	return text(context, 'questionTarget', 0) ?? context.getNode().name;
}

/** The flow's gate let it go without a person: a rule of the config decided, and is named in the journal. */
function goneByItself(run: Run): Step {
	const approved = run.state === 'approved' || run.state === 'completed';
	return {
		waits: false,
		decision: {
			approved,
			state: approved ? 'approved' : run.state,
			run_id: run.id,
			decided_by: [],
			by_rule: approved,
		},
		effectgate: { run: run.id, flow: run.flow, key: run.key },
	};
}

function busy(context: IExecuteFunctions, run: Run): NodeOperationError {
	return new NodeOperationError(
		context.getNode(),
		`Another execution is asking this question right now (${run.key})`,
		{
			description:
				'Its key is the same. It will be answered there; a later retry of this execution gets that answer.',
			itemIndex: 0,
		},
	);
}

/**
 * The question stands, or was answered, before (a retry, a second delivery, a second call by an agent). While it is open
 * this execution takes the place of the other: one decision resumes one execution. A yes is not used again unless the node
 * says so, because what it allowed may have happened; not even in the execution that got it, where an agent may call its
 * tool a second time.
 */
async function askedBefore(context: IExecuteFunctions, run: Run): Promise<Step> {
	if (!run.approval) return goneByItself(run);
	const approval = await read(context, run.approval.id, 0);
	if (approval.state === 'open') return await resumeAt(context, approval.id);
	const step = decided(context, approval);
	if (options(context, 0).earlierDecision === 'use' || step.waits) return step;
	if (step.decision.approved !== true) return step;
	const decision = {
		...step.decision,
		approved: false,
		state: 'already_used',
		message: 'This was approved before, and what it allowed may have happened then.',
	};
	return { ...step, decision };
}

// --- the answer ---------------------------------------------------------------------------------------------------------

/** What the workflow sees. Only `approved` allows; every other end has its own word, the expiry among them. */
export function decisionOf(approval: Approval): IDataObject {
	const last = approval.decisions.filter(({ superseded }) => superseded !== true).at(-1);
	return given({
		approved: approval.state === 'approved',
		state: approval.state,
		outcome: approval.outcome ?? undefined,
		approval_id: approval.id,
		run_id: approval.run_id,
		decided_by: approval.decisions.map(({ subject }) => subject),
		decided_at: last?.at,
		reason: last?.reason ?? undefined,
		expires_at: approval.expires_at,
		edited: (approval.edits ?? []).length > 0,
		decisions: approval.decisions as unknown as IDataObject[],
	}) as IDataObject;
}

/**
 * The gate calls this when an approval has ended. The body only says which; whether it was decided, and that it is this
 * execution's, is read from the gate. Until then the execution stays parked.
 */
export async function resumed(context: IWebhookFunctions): Promise<IWebhookResponseData> {
	const id = String(context.getBodyData().approval_id ?? '');
	if (!/^apr_[A-Za-z0-9_-]+$/.test(id))
		return turnedAway(context, 409, 'foreign', 'The body names no approval.');
	let answer;
	try {
		answer = await send<Approval>(context, 'GET', `/v1/approvals/${encodeURIComponent(id)}`);
	} catch (error) {
		context.logger.error('Effectgate could not be asked for the decision', { error: error as Error });
		return turnedAway(context, 502, 'unreachable', 'The decision could not be read from the gate.');
	}
	if (!answer.ok) {
		if (answer.status === 404)
			return turnedAway(context, 409, 'foreign', 'The gate knows no such approval for this key.');
		context.logger.error('Effectgate refused to tell the decision', { code: answer.problem.code });
		return turnedAway(
			context,
			502,
			'unreachable',
			`The gate did not tell the decision (${answer.problem.code}).`,
		);
	}
	const approval = answer.body;
	const { execution, node } = approval.resume ?? {};
	if (execution !== context.getExecutionId() || node !== context.getNode().id) {
		return turnedAway(context, 409, 'foreign', 'This approval resumes another execution or node.');
	}
	if (approval.state === 'open') return turnedAway(context, 409, 'pending', 'Nobody has decided yet.');
	const effectgate: Travel = { run: approval.run_id, approval: ofApproval(approval) };
	return {
		webhookResponse: { resumed: true, approval_id: id, state: approval.state },
		workflowData: [[item(decisionOf(approval), effectgate)]],
	};
}

function turnedAway(
	context: IWebhookFunctions,
	status: number,
	code: string,
	message: string,
): IWebhookResponseData {
	context.getResponseObject().status(status).json({ code, error: { message } });
	return { noWebhookResponse: true };
}
