import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, it } from 'node:test';

import type { IDataObject, INodeExecutionData } from 'n8n-workflow';

import { Gate } from './harness/gate.cts';
import { Execution, LINKS, told, type World } from './harness/n8n.cts';
import { N8nServer } from './harness/n8n-server.cts';

let gate: Gate;
let n8n: N8nServer;
before(async () => {
	n8n = await N8nServer.start();
	gate = await Gate.start({ N8N__URL: n8n.url });
});
after(async () => {
	await gate.stop();
	await n8n.stop();
});

const QUESTION = {
	resource: 'approval',
	operation: 'sendAndWait',
	waitFor: 'question',
	flow: 'questions',
	message: '=Pay {{ $json.body.amount }}?',
	keySource: 'shop',
	keyEventType: 'pay',
	keyExternalId: '={{ $json.body.id }}',
};

/** An execution whose node asks, and whose resume address leads to the node's webhook, as in n8n. */
function asking(execution: string, parameters: IDataObject = {}, world: Partial<World> = {}): Execution {
	const chain = new Execution({ gate, execution, n8n: n8n.url, ...world }, [
		{ name: 'Webhook', type: 'n8n-nodes-base.webhook' },
		{ name: 'Ask', parameters: { ...QUESTION, ...parameters } },
	]);
	return answering(chain, 'Ask');
}

/** The execution goes on when its address is called: what came out is kept in `resumedWith`. */
const resumedWith = new WeakMap<Execution, INodeExecutionData[]>();

function answering(chain: Execution, node: string): Execution {
	n8n.routes.set(`/webhook-waiting/${chain.id()}/id-${node}`, async ({ raw }) => {
		if (!chain.waits) return { status: 409, said: { message: 'The execution is running already.' } };
		const { answer, status, said } = await chain.resume(node, JSON.parse(raw.toString()) as IDataObject);
		if (answer.noWebhookResponse) return { status, said };
		chain.waits = false;
		resumedWith.set(chain, answer.workflowData![0]);
		return { status: 200, said: answer.webhookResponse };
	});
	return chain;
}

const goesOn = async (chain: Execution) =>
	await gate.until(
		async () => resumedWith.get(chain)?.[0]?.json.data as IDataObject | undefined,
		'the decision',
	);

const event = (id = randomUUID()) => [{ json: { body: { id, amount: 100 } } }];

interface Open {
	id: string;
	state: string;
	resume: IDataObject | null;
}

/** The approval of this chain's run, by its key. */
async function approvalOf(items: INodeExecutionData[], flow = 'questions', type = 'pay'): Promise<Open> {
	const key = `shop:${type}:${String((items[0].json.body as IDataObject).id)}:1`;
	const { body } = await gate.api<{ runs: Array<{ approval: Open }> }>(
		'GET',
		`/v1/runs?flow=${flow}&key=${encodeURIComponent(key)}`,
	);
	return body.runs[0].approval;
}

/** Decides as the person who got the link. */
async function decide(approval: Open, decision: 'approve' | 'reject', reason?: string): Promise<void> {
	await gate.decide(LINKS.get(approval.id) ?? '', decision, reason);
}

describe('send and wait, a question of its own', () => {
	it('parks the execution and goes on with yes when a person has approved', async () => {
		const items = event();
		const chain = asking(randomUUID());
		assert.deepEqual(await chain.run('Ask', items), [[{ ...items[0], pairedItem: { item: 0 } }]]);
		assert.equal(chain.waits, true);
		assert.equal(resumedWith.get(chain), undefined);
		await decide(await approvalOf(items), 'approve');
		const decision = await goesOn(chain);
		assert.equal(decision.approved, true);
		assert.equal(decision.state, 'approved');
		assert.equal((decision.decided_by as string[]).length, 1);
		assert.match(String(decision.decided_at), /^\d{4}-/);
	});

	it('goes on with no when a person has rejected, with the words', async () => {
		const items = event();
		const chain = asking(randomUUID());
		await chain.run('Ask', items);
		await decide(await approvalOf(items), 'reject', 'too much');
		const decision = await goesOn(chain);
		assert.deepEqual([decision.approved, decision.state, decision.reason], [false, 'rejected', 'too much']);
	});

	it('goes on with expired when nobody has decided in time', async () => {
		const items = event();
		const chain = asking(randomUUID(), { flow: 'questions-hasty' });
		await chain.run('Ask', items);
		const decision = await goesOn(chain);
		assert.deepEqual([decision.approved, decision.state], [false, 'expired']);
		assert.deepEqual(decision.decided_by, []);
	});

	it('stays parked while nobody has decided, whoever calls its address', async () => {
		const items = event();
		const chain = asking(randomUUID());
		await chain.run('Ask', items);
		const { id } = await approvalOf(items);
		const { status, said } = await chain.resume('Ask', { approval_id: id });
		assert.equal(status, 409);
		assert.equal((said as IDataObject).code, 'pending');
	});

	it('is not resumed by the approval of another execution', async () => {
		const [mine, theirs] = [event(), event()];
		const chain = asking(randomUUID());
		await chain.run('Ask', mine);
		const other = asking(randomUUID());
		await other.run('Ask', theirs);
		await decide(await approvalOf(theirs), 'approve');
		await goesOn(other);
		for (const id of [(await approvalOf(theirs)).id, 'apr_none', '', '../runs']) {
			const { status, said } = await chain.resume('Ask', { approval_id: id });
			assert.deepEqual([status, (said as IDataObject).code], [409, 'foreign'], id);
		}
	});

	it('stays parked while the gate cannot be asked', async () => {
		const items = event();
		const chain = asking(randomUUID());
		await chain.run('Ask', items);
		chain.world.gate = { url: 'http://127.0.0.1:9', apiKey: 'x' };
		const { id } = await approvalOf(items);
		assert.equal((await chain.resume('Ask', { approval_id: id })).status, 502);
		chain.world.gate = { url: gate.url, apiKey: 'not-a-key' };
		assert.equal((await chain.resume('Ask', { approval_id: id })).status, 502);
	});

	it('asks once though the answers are lost and the node is tried again', async () => {
		const items = event();
		const chain = asking(randomUUID(), {}, { loseAnswers: 1 });
		await assert.rejects(chain.run('Ask', items));
		chain.world.loseAnswers = 0;
		await chain.run('Ask', items);
		assert.equal(chain.waits, true);
		await decide(await approvalOf(items), 'approve');
		assert.equal((await goesOn(chain)).approved, true);
	});

	it('lets a later execution with the same question take the place of the first, and resumes it alone', async () => {
		const items = event();
		const [first, second] = [asking(randomUUID()), asking(randomUUID())];
		await first.run('Ask', items);
		await second.run('Ask', items);
		await decide(await approvalOf(items), 'approve');
		assert.equal((await goesOn(second)).approved, true);
		assert.equal(resumedWith.get(first), undefined);
	});

	it('does not give an approval that an earlier execution got a second time', async () => {
		const items = event();
		const first = asking(randomUUID());
		await first.run('Ask', items);
		await decide(await approvalOf(items), 'approve');
		await goesOn(first);

		const [[again]] = await asking(randomUUID()).run('Ask', items);
		const decision = again.json.data as IDataObject;
		assert.deepEqual([decision.approved, decision.state], [false, 'already_used']);

		const [[used]] = await asking(randomUUID(), { options: { earlierDecision: 'use' } }).run('Ask', items);
		assert.equal((used.json.data as IDataObject).approved, true);
	});

	it('does not give one yes twice to an execution, as when an agent calls its tool again', async () => {
		const items = event();
		const chain = asking(randomUUID());
		await chain.run('Ask', items);
		await decide(await approvalOf(items), 'approve');
		assert.equal((await goesOn(chain)).approved, true);

		const [[again]] = await chain.run('Ask', items);
		const decision = again.json.data as IDataObject;
		assert.deepEqual([decision.approved, decision.state], [false, 'already_used']);
	});

	it('refuses another question under the same key', async () => {
		const id = randomUUID();
		await asking(randomUUID()).run('Ask', event(id));
		await assert.rejects(
			asking(randomUUID(), { message: 'Something else?' }).run('Ask', event(id)),
			/payload_conflict/,
		);
	});

	it('refuses a key that changes with every execution', async () => {
		await assert.rejects(
			asking(randomUUID(), { keyExternalId: '={{ $execution.id }}' }).run('Ask', event()),
			/different every time/,
		);
	});

	it('asks about one item only', async () => {
		await assert.rejects(
			asking(randomUUID()).run('Ask', [...event(), ...event()]),
			/asks about one item, and 2 came in/,
		);
	});

	it('counts a failure as no where the node continues on failures', async () => {
		const chain = asking(randomUUID(), { flow: 'nowhere' }, { continueOnFail: true });
		const [[item]] = await chain.run('Ask', event());
		assert.equal((item.json.data as IDataObject).approved, false);
		assert.equal(chain.waits, false);
	});
});

describe('send and wait, for the approval of a proposal', () => {
	const chainFor = (execution: string, flow = 'asked') =>
		answering(
			new Execution({ gate, execution, n8n: n8n.url }, [
				{
					name: 'Reserve',
					parameters: {
						resource: 'run',
						operation: 'reserve',
						flow,
						keySource: 'shop',
						keyEventType: 'mail',
						keyExternalId: '={{ $json.body.id }}',
					},
				},
				{
					name: 'Propose',
					parameters: {
						resource: 'run',
						operation: 'propose',
						outputFormat: 'json',
						output: '={{ { "label": "thanks" } }}',
						effects: { values: [{ type: 'note', target: 't', payload: '{}' }] },
					},
				},
				{ name: 'Wait', parameters: { resource: 'approval', operation: 'sendAndWait', waitFor: 'approval' } },
			]),
			'Wait',
		);

	async function proposed(chain: Execution): Promise<INodeExecutionData[]> {
		await chain.run('Reserve', event());
		const [, waiting] = await chain.run('Propose');
		return waiting;
	}

	const linkOf = (items: INodeExecutionData[]) => String((told(items[0]).approval as IDataObject).link);

	it('goes on when the person has decided', async () => {
		const chain = chainFor(randomUUID());
		const items = await proposed(chain);
		await chain.run('Wait', items);
		assert.equal(chain.waits, true);
		await gate.decide(linkOf(items), 'approve');
		const decision = await goesOn(chain);
		assert.equal(decision.approved, true);
		assert.equal(decision.run_id, told(items[0]).run);
	});

	it('goes on at once when the decision is there already', async () => {
		const chain = chainFor(randomUUID());
		const items = await proposed(chain);
		await gate.decide(linkOf(items), 'reject', 'no');
		const [[item]] = await chain.run('Wait', items);
		assert.equal(chain.waits, false);
		assert.deepEqual((item.json.data as IDataObject).state, 'rejected');
	});

	it('is called again when the decision comes before the execution is parked', async () => {
		const chain = chainFor(randomUUID());
		const items = await proposed(chain);
		await chain.run('Wait', items);
		chain.waits = false;
		await gate.decide(linkOf(items), 'approve');
		await gate.until(
			async () => (n8n.calls.some(({ path }) => path.includes(chain.id())) ? true : undefined),
			'a call',
		);
		assert.equal(resumedWith.get(chain), undefined);
		chain.waits = true;
		assert.equal((await goesOn(chain)).approved, true);
	});

	it('says that no approval is known where none travels', async () => {
		await assert.rejects(chainFor(randomUUID()).run('Wait', [{ json: {} }]), /No approval is known/);
	});

	it('reads an approval, and who decided', async () => {
		const chain = chainFor(randomUUID());
		const items = await proposed(chain);
		await gate.decide(linkOf(items), 'approve');
		const reading = new Execution({ gate }, [
			{ name: 'Get', parameters: { resource: 'approval', operation: 'get' } },
		]);
		const [[item]] = await reading.run('Get', items);
		assert.equal(item.json.state, 'approved');
	});
});
