import type { INodePropertyOptions } from 'n8n-workflow';

/** What a subscription may ask for. */
export const EVENTS: INodePropertyOptions[] = [
	{
		name: 'Approval Decided',
		value: 'approval.decided',
		description: 'People approved, rejected or withdrew',
	},
	{ name: 'Approval Expired', value: 'approval.expired', description: 'Nobody decided in time' },
	{ name: 'Approval Requested', value: 'approval.requested', description: 'A person has to decide' },
	{ name: 'Effect Completed', value: 'effect.completed', description: 'It happened outside, for certain' },
	{ name: 'Effect Failed', value: 'effect.failed', description: 'It did not happen, and will not' },
	{
		name: 'Effect Needs Review',
		value: 'effect.review',
		description: 'It is not known whether it happened; a person must look',
	},
	{ name: 'Run Completed', value: 'run.completed', description: 'The event is done, effects and all' },
	{ name: 'Run Failed', value: 'run.failed', description: 'The event ended without its effects' },
	{ name: 'Run Quarantined', value: 'run.quarantined', description: 'The event is kept and not worked on' },
];
