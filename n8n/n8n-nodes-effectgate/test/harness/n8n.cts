// An execution of n8n as far as a node sees it: n8n's own workflow and expressions (the package n8n-workflow), and the
// functions that n8n's core hands to execute, webhook and the hooks of a trigger. Requests go out for real.
import {
	NodeHelpers,
	Workflow,
	type IDataObject,
	type IExecuteFunctions,
	type IHookFunctions,
	type IHttpRequestOptions,
	type INode,
	type INodeExecutionData,
	type INodeType,
	type IRunExecutionData,
	type IWebhookFunctions,
	type IWebhookResponseData,
	type NodeParameterValueType,
} from 'n8n-workflow';

import { Effectgate } from '../../nodes/Effectgate/Effectgate.node.ts';
import { EffectgateTrigger } from '../../nodes/EffectgateTrigger/EffectgateTrigger.node.ts';

export interface Spec {
	name: string;
	type?: string;
	parameters?: IDataObject;
}

export interface World {
	gate: { url: string; apiKey: string };
	workflow?: string;
	execution?: string;
	/** The address under which n8n is reached. */
	n8n?: string;
	continueOnFail?: boolean;
	/** How often the next answers are lost after the gate has made them. */
	loseAnswers?: number;
}

const OTHER = {
	description: {
		displayName: 'Other',
		name: 'other',
		group: [],
		version: 1,
		description: '',
		defaults: {},
		inputs: ['main'],
		outputs: ['main'],
		properties: [],
	},
} as unknown as INodeType;

const OURS: Record<string, INodeType> = {
	'n8n-nodes-effectgate.effectgate': new Effectgate(),
	'n8n-nodes-effectgate.effectgateTrigger': new EffectgateTrigger(),
};

const NODE_TYPES = {
	getByName: (type: string) => OURS[type] ?? OTHER,
	getByNameAndVersion: (type: string) => OURS[type] ?? OTHER,
	getKnownTypes: () => ({}),
};

/** The nodes one behind the other, and one execution of them. */
export class Execution {
	readonly workflow: Workflow;
	readonly data: IRunExecutionData;
	/** True after a node has parked the execution. */
	waits = false;

	constructor(
		readonly world: World,
		private readonly specs: Spec[],
	) {
		const nodes = specs.map(
			({ name, type, parameters }, index): INode => ({
				id: `id-${name}`,
				name,
				type: type ?? 'n8n-nodes-effectgate.effectgate',
				typeVersion: 1,
				position: [index * 200, 0],
				parameters: (parameters ?? {}) as INode['parameters'],
			}),
		);
		const connections = Object.fromEntries(
			specs
				.slice(1)
				.map(({ name }, index) => [
					specs[index].name,
					{ main: [[{ node: name, type: 'main' as const, index: 0 }]] },
				]),
		);
		this.workflow = new Workflow({
			id: world.workflow ?? 'wf',
			name: 'Test',
			active: true,
			nodes,
			connections,
			nodeTypes: NODE_TYPES as never,
		});
		this.data = { resultData: { runData: {} } } as unknown as IRunExecutionData;
	}

	/** Notes that this node ran and put these items out, such as a Webhook or a model. */
	ran(name: string, items: INodeExecutionData[], output = 0): void {
		const main: INodeExecutionData[][] = [];
		main[output] = items;
		for (let index = 0; index < output; index++) main[index] ??= [];
		const before = this.before(name);
		(this.data.resultData.runData[name] ??= []).push({
			startTime: 0,
			executionTime: 0,
			executionIndex: 0,
			source: before ? [{ previousNode: before, previousNodeRun: Math.max(0, this.runs(before) - 1) }] : [],
			data: { main },
		});
	}

	/** Runs one of our nodes on these items (else on what the node before put out at 0), and notes what it put out. */
	async run(name: string, given?: INodeExecutionData[]): Promise<INodeExecutionData[][]> {
		const node = this.node(name);
		const before = this.before(name);
		const put =
			before === undefined ? undefined : this.data.resultData.runData[before]?.at(-1)?.data?.main[0];
		// As n8n's core does: an item that comes in is paired with its place in what the node before put out.
		const items = (given ?? put ?? []).map((one, item) => ({ ...one, pairedItem: { item } }));
		const type = OURS[node.type];
		const outputs = (await type.execute!.call(this.executing(node, items))) as INodeExecutionData[][];
		const wanted = NodeHelpers.getNodeOutputs(this.workflow, node, type.description).length;
		if (outputs.length !== wanted) throw new Error(`${outputs.length} outputs where the node has ${wanted}`);
		const filled = Math.max(
			0,
			outputs.findIndex((output) => output.length > 0),
		);
		if (!this.waits) this.ran(name, outputs[filled], filled);
		return outputs;
	}

	/** The call that resumes a parked execution. */
	async resume(
		name: string,
		body: IDataObject,
	): Promise<{ answer: IWebhookResponseData; status: number; said: unknown }> {
		return await hook(this.functions(this.node(name), []), this.node(name), body, {});
	}

	node(name: string): INode {
		const node = this.workflow.getNode(name);
		if (!node) throw new Error(`no node ${name}`);
		return node;
	}

	private before(name: string): string | undefined {
		const index = this.specs.findIndex((spec) => spec.name === name);
		return this.specs[index - 1]?.name;
	}

	private executing(node: INode, items: INodeExecutionData[]): IExecuteFunctions {
		return {
			...this.functions(node, items),
			getInputData: () => items,
			continueOnFail: () => this.world.continueOnFail === true,
			getSignedResumeUrl: () =>
				`${this.world.n8n ?? 'http://127.0.0.1:5678'}/webhook-waiting/${this.id()}/${node.id}?signature=0000000000000000`,
			putExecutionToWait: async () => {
				this.waits = true;
			},
		} as unknown as IExecuteFunctions;
	}

	/** How often this node has run in this execution. */
	private runs(name: string): number {
		return this.data.resultData.runData[name]?.length ?? 0;
	}

	id(): string {
		return this.world.execution ?? '1';
	}

	private functions(node: INode, items: INodeExecutionData[]) {
		const world = this.world;
		const before = this.before(node.name);
		const executeData = {
			node,
			data: { main: [items] },
			source: before
				? { main: [{ previousNode: before, previousNodeRun: Math.max(0, this.runs(before) - 1) }] }
				: null,
		};
		const value = (raw: NodeParameterValueType | object, item: number) =>
			this.workflow.expression.getParameterValue(
				raw as NodeParameterValueType,
				this.data,
				this.runs(node.name),
				item,
				node.name,
				items,
				'trigger',
				{ $execution: { id: this.id() } } as never,
				executeData as never,
			);
		return {
			logger: {
				error: () => undefined,
				warn: () => undefined,
				info: () => undefined,
				debug: () => undefined,
			},
			getNode: () => node,
			getWorkflow: () => ({ id: this.workflow.id, name: this.workflow.name, active: true }),
			getExecutionId: () => this.id(),
			getMode: () => 'trigger',
			getCredentials: async () => ({ baseUrl: `${world.gate.url}/`, apiKey: world.gate.apiKey }),
			getParentNodes: (name: string, options?: { includeNodeParameters?: boolean }) =>
				this.workflow.getParentNodes(name).map((parent) => {
					const { type, typeVersion } = this.node(parent);
					// n8n drops what a node's description does not know; only ours has one here.
					const parameters = this.specs.find((spec) => spec.name === parent)?.parameters ?? {};
					return {
						name: parent,
						type,
						typeVersion,
						disabled: false,
						...(options?.includeNodeParameters ? { parameters } : {}),
					};
				}),
			getNodeParameter: (name: string, item: number, fallback?: unknown) => {
				const raw = name
					.split('.')
					.reduce<unknown>((at, part) => (at as IDataObject | undefined)?.[part], node.parameters);
				if (raw === undefined) {
					if (fallback !== undefined) return fallback;
					throw new Error(`Could not get parameter ${name}`);
				}
				return value(raw as NodeParameterValueType, item);
			},
			evaluateExpression: (expression: string, item: number) => value(`=${expression}`, item),
			helpers: requests(world),
		};
	}
}

/** A trigger that is switched on and off, and is called. */
export class Trigger {
	readonly staticData: IDataObject = {};

	readonly node: INode;

	constructor(
		readonly world: World,
		readonly url: string,
		readonly parameters: IDataObject = {},
	) {
		this.node = {
			id: 'id-trigger',
			name: 'Effectgate Trigger',
			type: 'n8n-nodes-effectgate.effectgateTrigger',
			typeVersion: 1,
			position: [0, 0],
			parameters: { events: ['approval.decided'], flow: '', ...parameters } as INode['parameters'],
		};
	}

	async exists(): Promise<boolean> {
		return await this.methods().checkExists.call(this.hooks());
	}

	/** As n8n does it when a workflow is published. */
	async activate(): Promise<boolean> {
		return (await this.exists()) || (await this.methods().create.call(this.hooks()));
	}

	async deactivate(): Promise<boolean> {
		return await this.methods().delete.call(this.hooks());
	}

	async called(raw: Buffer, headers: Record<string, string>) {
		return await hook(this.hooks(), this.node, JSON.parse(raw.toString()) as IDataObject, headers, raw);
	}

	private methods() {
		return new EffectgateTrigger().webhookMethods.default;
	}

	private hooks(): IHookFunctions {
		return {
			logger: { error: () => undefined },
			getNode: () => this.node,
			getNodeParameter: (name: string) => this.node.parameters[name],
			getNodeWebhookUrl: () => this.url,
			getWorkflowStaticData: () => this.staticData,
			getCredentials: async () => ({ baseUrl: this.world.gate.url, apiKey: this.world.gate.apiKey }),
			helpers: requests(this.world),
		} as unknown as IHookFunctions;
	}
}

async function hook(
	functions: object,
	node: INode,
	body: IDataObject,
	headers: Record<string, string>,
	raw?: Buffer,
): Promise<{ answer: IWebhookResponseData; status: number; said: unknown }> {
	const seen = { status: 200, said: undefined as unknown };
	const response = {
		status(code: number) {
			seen.status = code;
			return this;
		},
		json(said: unknown) {
			seen.said = said;
			return this;
		},
	};
	const context = {
		...functions,
		getBodyData: () => body,
		getHeaderData: () => headers,
		getRequestObject: () => ({ rawBody: raw }),
		getResponseObject: () => response,
	} as unknown as IWebhookFunctions;
	const answer = await OURS[node.type].webhook!.call(context);
	return { answer, ...seen };
}

/** The links of approvals that were in the gate's answers: in these tests the caller delivers them. */
export const LINKS = new Map<string, string>();

function keepLink(answer: unknown): void {
	const approval = (answer as { approval?: { id: string; link?: string } } | undefined)?.approval;
	if (approval?.link) LINKS.set(approval.id, approval.link);
}

function requests(world: World) {
	return {
		async httpRequestWithAuthentication(_credential: string, options: IHttpRequestOptions) {
			const url = new URL(options.url);
			for (const [name, one] of Object.entries(options.qs ?? {})) url.searchParams.set(name, String(one));
			const response = await fetch(url, {
				method: options.method,
				redirect: 'manual',
				headers: { authorization: `Bearer ${world.gate.apiKey}`, 'content-type': 'application/json' },
				body: options.body === undefined ? undefined : JSON.stringify(options.body),
			});
			const text = await response.text();
			const isJson = /json/.test(response.headers.get('content-type') ?? '');
			const answer: unknown = isJson && text !== '' ? JSON.parse(text) : text;
			keepLink(answer);
			if ((world.loseAnswers ?? 0) > 0) {
				world.loseAnswers = (world.loseAnswers ?? 0) - 1;
				throw new Error('The connection to the server was closed unexpectedly');
			}
			return { statusCode: response.status, body: answer };
		},
	};
}

/** The member `effectgate` of an item. */
export function told(item: INodeExecutionData): IDataObject {
	return item.json.effectgate as IDataObject;
}
