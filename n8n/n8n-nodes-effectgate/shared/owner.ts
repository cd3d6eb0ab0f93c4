// Who works on a run. The same node of the same execution asking again is the same owner, so n8n's Retry On Fail and a
// lost answer get the same grant; another execution, or another item, is somebody else.
import type { IExecuteFunctions } from 'n8n-workflow';

const OWNER_MAX = 255;

export function ownerOf(context: IExecuteFunctions, item: number): string {
	const parts = [
		context.getWorkflow().id ?? 'unsaved',
		context.getExecutionId(),
		context.getNode().id,
		String(item),
	];
	return `n8n:${parts.join(':')}`.slice(0, OWNER_MAX);
}

/** Where the run came from, for the record: never part of the key. */
export function executionOf(context: IExecuteFunctions): Record<string, string> {
	const workflow = context.getWorkflow();
	return {
		id: context.getExecutionId(),
		workflow: workflow.name ?? '',
		workflow_id: workflow.id ?? '',
		node: context.getNode().name,
		mode: context.getMode(),
	};
}
