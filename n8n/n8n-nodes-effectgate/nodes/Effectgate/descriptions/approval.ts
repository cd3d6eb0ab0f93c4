// The resource Approval: a person's decision, waited for.
import type { INodeProperties } from 'n8n-workflow';

import { keyFields } from './key';

const asking = { resource: ['approval'], operation: ['sendAndWait'], waitFor: ['question'] };

export const approvalProperties: INodeProperties[] = [
	{
		displayName: 'Operation',
		name: 'operation',
		type: 'options',
		noDataExpression: true,
		displayOptions: { show: { resource: ['approval'] } },
		options: [
			{
				name: 'Get',
				value: 'get',
				action: 'Get an approval',
				description: 'Read how an approval stands, and who decided',
			},
			{
				name: 'Send and Wait for Approval',
				value: 'sendAndWait',
				action: 'Send and wait for approval',
				description: 'Wait until people have decided at the gate, and continue with their decision',
			},
		],
		default: 'sendAndWait',
	},
	{
		displayName: 'Wait For',
		name: 'waitFor',
		type: 'options',
		noDataExpression: true,
		options: [
			{
				name: 'A Question of Its Own',
				value: 'question',
				description: 'Ask people something; the decision itself is the outcome',
			},
			{
				name: 'The Approval of a Proposal',
				value: 'approval',
				description: 'The one that Propose made, on its output Waiting for a Person',
			},
		],
		default: 'question',
		displayOptions: { show: { resource: ['approval'], operation: ['sendAndWait'] } },
	},
	{
		displayName: 'Approval ID',
		name: 'approvalId',
		type: 'string',
		default: '',
		placeholder: 'apr_…',
		description: 'Left empty: the approval that travels with the item',
		displayOptions: { show: { resource: ['approval'], operation: ['sendAndWait'], waitFor: ['approval'] } },
	},
	{
		displayName: 'Approval ID',
		name: 'approvalId',
		type: 'string',
		default: '',
		placeholder: 'apr_…',
		description: 'Left empty: the approval that travels with the item',
		displayOptions: { show: { resource: ['approval'], operation: ['get'] } },
	},
	{
		displayName: 'Message',
		name: 'message',
		type: 'string',
		typeOptions: { rows: 3 },
		default: '',
		required: true,
		description: 'What the people are asked, as they see it',
		displayOptions: { show: asking },
	},
	{
		displayName: 'Flow',
		name: 'flow',
		type: 'string',
		default: '',
		required: true,
		placeholder: 'questions',
		description: 'A flow of the gate whose effect type is at a provider of the kind record: nothing leaves',
		displayOptions: { show: asking },
	},
	{
		displayName: 'Question Type',
		name: 'questionType',
		type: 'string',
		default: 'decision',
		required: true,
		description: 'The effect type of that flow',
		displayOptions: { show: asking },
	},
	...keyFields(asking),
	{
		displayName: 'Details',
		name: 'details',
		type: 'json',
		default: '{}',
		description: 'Shown with the question, and part of what is decided on',
		displayOptions: { show: asking },
	},
	{
		displayName: 'Options',
		name: 'options',
		type: 'collection',
		placeholder: 'Add option',
		default: {},
		displayOptions: { show: asking },
		options: [
			{
				displayName: 'An Answer for an Earlier Execution',
				name: 'earlierDecision',
				type: 'options',
				options: [
					{
						name: 'Is Not Used Again',
						value: 'refuse',
						description:
							'An approval that another execution got counts as no: what it allowed may have happened',
					},
					{
						name: 'Is Used Again',
						value: 'use',
						description: 'Where what follows is itself protected by a key',
					},
				],
				default: 'refuse',
				description:
					'What to do if this very question was approved for another execution, such as before a retry',
			},
			{
				displayName: 'Lease (Milliseconds)',
				name: 'leaseMs',
				type: 'number',
				typeOptions: { minValue: 1 },
				default: 60000,
				description: 'Only for the moment until the question stands',
			},
			{
				displayName: 'Requested By',
				name: 'requestedBy',
				type: 'string',
				default: '',
				placeholder: 'mail:anna@example.com',
				description: 'Who asked for it; that person cannot be the only one who approves',
			},
			{
				displayName: 'Source URL',
				name: 'sourceUrl',
				type: 'string',
				default: '',
				description: 'Where a person can look at what this is about',
			},
			{
				displayName: 'Summary',
				name: 'summary',
				type: 'string',
				default: '',
				description: 'One line for the card; left out, the message',
			},
		],
	},
	{
		displayName: 'Subject of the Question',
		name: 'questionTarget',
		type: 'string',
		default: '',
		description: 'What the question is about, as the card names it; left empty, the name of this node',
		displayOptions: { show: asking },
	},
];
