// The resource Run: one business event and the work on it.
import type { INodeProperties } from 'n8n-workflow';

import { keyFields } from './key';

const on = (...operation: string[]) => ({ show: { resource: ['run'], operation } });

const operation: INodeProperties = {
	displayName: 'Operation',
	name: 'operation',
	type: 'options',
	noDataExpression: true,
	displayOptions: { show: { resource: ['run'] } },
	options: [
		{
			name: 'Complete',
			value: 'complete',
			action: 'Complete a run',
			description: 'End the run with its result, where no effect is left for the gate to send',
		},
		{
			name: 'Correct',
			value: 'correct',
			action: 'Correct a finished run',
			description: 'Start a new event, with its own key, that corrects a finished run',
		},
		{
			name: 'Explain',
			value: 'explain',
			action: 'Explain a run',
			description: 'Was it processed, was it sent, who approved, and what would make it go on',
		},
		{
			name: 'Fail',
			value: 'fail',
			action: 'Fail a run',
			description: 'Say what went wrong; the gate says whether and when to try again',
		},
		{ name: 'Get', value: 'get', action: 'Get a run', description: 'Read a run as it is now' },
		{
			name: 'Propose',
			value: 'propose',
			action: 'Propose effects',
			description: 'Hand in what the model made: it is checked, decided on, and sent once',
		},
		{
			name: 'Renew',
			value: 'renew',
			action: 'Renew a lease',
			description: 'Keep the right to work on the run before a long step',
		},
		{
			name: 'Reserve',
			value: 'reserve',
			action: 'Reserve an event',
			description: 'Take the right to work on an event, before anything else happens',
		},
	],
	default: 'reserve',
};

const flow: INodeProperties = {
	displayName: 'Flow',
	name: 'flow',
	type: 'string',
	default: '',
	required: true,
	placeholder: 'ticket-reply',
	description: 'The name of the flow in the config of the gate',
	displayOptions: on('reserve'),
};

const payload: INodeProperties = {
	displayName: 'Payload',
	name: 'payload',
	type: 'json',
	default: '={{ $json.body ?? $json }}',
	required: true,
	description:
		'The event itself. One key stands for one payload, so leave out what differs between two deliveries of the same event, such as headers and delivery times.',
	displayOptions: on('reserve', 'correct'),
};

const correction: INodeProperties[] = [
	{
		displayName: 'Reason',
		name: 'reason',
		type: 'string',
		default: '',
		required: true,
		description: 'Why the finished run is corrected; it is on record with it',
		displayOptions: on('correct'),
	},
	{
		displayName: 'Flow of the Correction',
		name: 'correctFlow',
		type: 'string',
		default: '',
		placeholder: 'ticket-reply',
		description: 'Left empty: the flow of the run that is corrected',
		displayOptions: on('correct'),
	},
];

const find: INodeProperties[] = [
	{
		displayName: 'Run',
		name: 'runFrom',
		type: 'options',
		noDataExpression: true,
		options: [
			{ name: 'By ID', value: 'id' },
			{ name: 'By Key', value: 'key' },
			{ name: 'Of This Item', value: 'item', description: 'The run that travels with the item' },
		],
		default: 'item',
		displayOptions: on('get', 'explain', 'correct'),
	},
	{
		displayName: 'Run ID',
		name: 'runId',
		type: 'string',
		default: '',
		required: true,
		placeholder: 'run_…',
		displayOptions: {
			show: { resource: ['run'], operation: ['get', 'explain', 'correct'], runFrom: ['id'] },
		},
	},
	{
		displayName: 'Flow',
		name: 'findFlow',
		type: 'string',
		default: '',
		required: true,
		displayOptions: {
			show: { resource: ['run'], operation: ['get', 'explain', 'correct'], runFrom: ['key'] },
		},
	},
	{
		displayName: 'Key of the Run',
		name: 'findKey',
		type: 'string',
		default: '',
		required: true,
		displayOptions: {
			show: { resource: ['run'], operation: ['get', 'explain', 'correct'], runFrom: ['key'] },
		},
	},
];

const proposal: INodeProperties[] = [
	{
		displayName: 'Output of the Model',
		name: 'outputFormat',
		type: 'options',
		noDataExpression: true,
		options: [
			{ name: 'JSON', value: 'json', description: 'The model node already gave JSON' },
			{ name: 'None', value: 'none', description: 'No model was asked, or the flow has no output schema' },
			{ name: 'Text', value: 'text', description: 'The gate takes the one JSON value out of the text' },
		],
		default: 'text',
		displayOptions: on('propose'),
	},
	{
		displayName: 'Text',
		name: 'outputText',
		type: 'string',
		default: '={{ $json.output ?? $json.text }}',
		typeOptions: { rows: 3 },
		required: true,
		description: 'What the model wrote, unchanged. Nothing is cut, closed or repaired here.',
		displayOptions: { show: { resource: ['run'], operation: ['propose'], outputFormat: ['text'] } },
	},
	{
		displayName: 'Output',
		name: 'output',
		type: 'json',
		default: '={{ $json.output }}',
		required: true,
		displayOptions: { show: { resource: ['run'], operation: ['propose'], outputFormat: ['json'] } },
	},
	{
		displayName: 'Effects',
		name: 'effectsFrom',
		type: 'options',
		noDataExpression: true,
		options: [
			{ name: 'As JSON', value: 'json', description: 'A list of {type, target, payload}' },
			{
				name: 'By the Flow',
				value: 'flow',
				description: 'The flow of the gate takes them out of the output',
			},
			{ name: 'From Fields', value: 'fields' },
		],
		default: 'fields',
		description: 'What should happen outside, if it is allowed',
		displayOptions: on('propose'),
	},
	{
		displayName: 'Effects',
		name: 'effects',
		type: 'fixedCollection',
		typeOptions: { multipleValues: true, sortable: true },
		placeholder: 'Add Effect',
		default: {},
		displayOptions: { show: { resource: ['run'], operation: ['propose'], effectsFrom: ['fields'] } },
		options: [
			{
				displayName: 'Effect',
				name: 'values',
				values: [
					{
						displayName: 'Type',
						name: 'type',
						type: 'string',
						default: '',
						required: true,
						placeholder: 'customer_mail',
						description: 'An effect type of the flow',
					},
					{
						displayName: 'Target',
						name: 'target',
						type: 'string',
						default: '',
						placeholder: '{{ $json.body.customer.email }}',
						description: 'Whom or what it is for. Left empty where the flow takes it from the event.',
					},
					{
						displayName: 'Payload',
						name: 'payload',
						type: 'json',
						default: '{}',
						required: true,
						description: 'Goes out as it is here, once it is decided',
					},
				],
			},
		],
	},
	{
		displayName: 'Effects',
		name: 'effectsJson',
		type: 'json',
		default: '[]',
		required: true,
		displayOptions: { show: { resource: ['run'], operation: ['propose'], effectsFrom: ['json'] } },
	},
];

const endings: INodeProperties[] = [
	{
		displayName: 'Result',
		name: 'result',
		type: 'json',
		default: '{}',
		description: 'Kept with the run, and told to every later delivery of the same event',
		displayOptions: on('complete'),
	},
	{
		displayName: 'What Went Wrong',
		name: 'failClass',
		type: 'options',
		options: [
			{ name: 'Agent Used Up Its Iterations', value: 'agent_limit', description: 'Ends the run' },
			{ name: 'Lost Ownership', value: 'lost_ownership' },
			{ name: 'Model Timed Out', value: 'model_timeout' },
			{ name: 'Model Unavailable', value: 'model_unavailable' },
			{ name: 'Output Breaks the Schema', value: 'schema_invalid' },
			{ name: 'Output Cannot Be Read', value: 'unparseable' },
			{ name: 'Partial Success', value: 'partial_success' },
			{ name: 'Rate Limited', value: 'rate_limited' },
			{
				name: 'Workflow Error',
				value: 'worker_error',
				description: 'Any other failure that is worth another try',
			},
			{ name: 'Wrong in Content', value: 'semantic', description: 'A person looks at it' },
		],
		default: 'worker_error',
		description: 'The gate decides by its retry matrix whether and when it is tried again',
		displayOptions: on('fail'),
	},
	{
		displayName: 'Message',
		name: 'failMessage',
		type: 'string',
		default: '',
		description: 'For the record; no customer data and no secrets',
		displayOptions: on('fail'),
	},
];

const more: INodeProperties[] = [
	{
		displayName: 'Options',
		name: 'options',
		type: 'collection',
		placeholder: 'Add option',
		default: {},
		displayOptions: on('reserve'),
		options: [
			{
				displayName: 'Correlation ID',
				name: 'correlationId',
				type: 'string',
				default: '',
				description: 'Found again in the record and in every answer',
			},
			{
				displayName: 'Lease (Milliseconds)',
				name: 'leaseMs',
				type: 'number',
				typeOptions: { minValue: 1 },
				default: 300000,
				description:
					'How long the work may take before somebody else may take it over, within the bounds of the flow',
			},
			{
				displayName: 'Source URL',
				name: 'sourceUrl',
				type: 'string',
				default: '',
				description: 'Where a person can look at the event, such as the ticket',
			},
		],
	},
	{
		displayName: 'Options',
		name: 'options',
		type: 'collection',
		placeholder: 'Add option',
		default: {},
		displayOptions: on('renew'),
		options: [
			{
				displayName: 'Lease (Milliseconds)',
				name: 'leaseMs',
				type: 'number',
				typeOptions: { minValue: 1 },
				default: 300000,
				description: 'From now on, within the bounds of the flow',
			},
		],
	},
	{
		displayName: 'Options',
		name: 'options',
		type: 'collection',
		placeholder: 'Add option',
		default: {},
		displayOptions: on('propose'),
		options: [
			{
				displayName: 'Agent Iterations',
				name: 'agentIterations',
				type: 'number',
				typeOptions: { minValue: 0 },
				default: 0,
				description: 'How many steps an agent took; above the limit of the flow the run ends',
			},
			{
				displayName: 'Finish Reason',
				name: 'finishReason',
				type: 'string',
				default: '',
				description: 'As the model reported it: an output that was cut off is invalid',
			},
			{ displayName: 'Model Name', name: 'modelName', type: 'string', default: '' },
			{ displayName: 'Model Provider Class', name: 'modelProviderClass', type: 'string', default: '' },
			{ displayName: 'Model Revision', name: 'modelRevision', type: 'string', default: '' },
			{ displayName: 'Prompt Revision', name: 'promptRevision', type: 'string', default: '' },
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
				description: 'Where the approver can look at the event',
			},
			{
				displayName: 'Summary',
				name: 'summary',
				type: 'string',
				default: '',
				description: 'One line for the person who decides',
			},
		],
	},
];

export const runProperties: INodeProperties[] = [
	operation,
	...find,
	flow,
	...correction,
	...keyFields({ resource: ['run'], operation: ['reserve', 'correct'] }),
	payload,
	...proposal,
	...endings,
	...more,
];
