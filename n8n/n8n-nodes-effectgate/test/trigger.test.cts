import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, it } from 'node:test';

import type { IDataObject } from 'n8n-workflow';

import { Gate } from './harness/gate.cts';
import { Trigger } from './harness/n8n.cts';
import { N8nServer, type Call } from './harness/n8n-server.cts';

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

interface Subscription {
	id: string;
	url: string;
	events: string[];
	flow: string | null;
}

const subscriptions = async () =>
	(await gate.api<{ data: Subscription[] }>('GET', '/v1/subscriptions')).body.data;

function triggering(parameters: IDataObject = {}): Trigger {
	return new Trigger({ gate }, `${n8n.url}/webhook/${randomUUID()}/webhook`, parameters);
}

/** An event that the gate tells: a run that is completed. */
async function completes(flow = 'free'): Promise<string> {
	const { body } = await gate.api<{ run: { id: string } }>('POST', '/v1/runs', {
		flow,
		key_parts: { source: 's', event_type: 'e', external_id: randomUUID(), version: '1' },
		payload: 1,
		owner: 'o',
	});
	await gate.api('POST', `/v1/runs/${body.run.id}/complete`, { owner: 'o', fence: 1, result: {} });
	return body.run.id;
}

describe('the trigger', () => {
	it('registers itself once, finds itself again, and takes itself back', async () => {
		const trigger = triggering();
		assert.equal(await trigger.exists(), false);
		assert.equal(await trigger.activate(), true);
		assert.equal(await trigger.exists(), true);
		assert.equal(await trigger.activate(), true);
		const mine = (await subscriptions()).filter(({ url }) => url === trigger.url);
		assert.equal(mine.length, 1);
		assert.deepEqual(mine[0].events, ['approval.decided']);

		assert.equal(await trigger.deactivate(), true);
		assert.equal((await subscriptions()).filter(({ url }) => url === trigger.url).length, 0);
	});

	it("keeps nothing but the id in n8n's static data", async () => {
		const trigger = triggering();
		await trigger.activate();
		assert.deepEqual(Object.keys(trigger.staticData), ['subscriptionId']);
		await trigger.deactivate();
		assert.deepEqual(trigger.staticData, {});
	});

	it('registers for other events under the same address when they were changed', async () => {
		const trigger = triggering();
		await trigger.activate();
		trigger.node.parameters.events = ['run.failed', 'run.completed'];
		trigger.node.parameters.flow = 'free';
		assert.equal(await trigger.exists(), false);
		await trigger.activate();
		assert.equal(await trigger.exists(), true);
		const mine = (await subscriptions()).filter(({ url }) => url === trigger.url);
		assert.deepEqual(
			[mine.length, [...mine[0].events].sort(), mine[0].flow],
			[1, ['run.completed', 'run.failed'], 'free'],
		);
		await trigger.deactivate();
	});

	it('takes itself back though its id was lost, and though it is gone already', async () => {
		const trigger = triggering();
		await trigger.activate();
		delete trigger.staticData.subscriptionId;
		assert.equal(await trigger.deactivate(), true);
		assert.equal((await subscriptions()).filter(({ url }) => url === trigger.url).length, 0);
		trigger.staticData.subscriptionId = 'sub_00000000000000000000000000000000';
		assert.equal(await trigger.deactivate(), true);
	});

	it('says so when the gate cannot be asked, and finds what it left behind when it is published again', async () => {
		const trigger = triggering();
		await trigger.activate();
		trigger.world.gate = { url: 'http://127.0.0.1:9', apiKey: 'x' };
		await assert.rejects(trigger.deactivate(), /could not be reached/);
		await assert.rejects(trigger.activate(), /could not be reached/);

		const published = new Trigger({ gate }, trigger.url);
		assert.equal(await published.exists(), true);
		assert.equal(await published.deactivate(), true);
		assert.equal((await subscriptions()).filter(({ url }) => url === trigger.url).length, 0);
	});

	it('says what to configure when the gate may not call this n8n', async () => {
		const trigger = new Trigger({ gate }, 'http://elsewhere.example/webhook/x');
		await assert.rejects(trigger.activate(), (error: Error & { description?: string }) => {
			assert.match(error.message, /url_not_allowed/);
			assert.match(error.description ?? '', /\[n8n\]/);
			return true;
		});
	});

	it('starts the workflow with a delivery of the gate, and with nothing else', async () => {
		const trigger = triggering({ events: ['run.completed'] });
		const path = new URL(trigger.url).pathname;
		const started: IDataObject[] = [];
		let real: Call | undefined;
		n8n.routes.set(path, async (call) => {
			real = call;
			const { answer, status, said } = await trigger.called(call.raw, call.headers as Record<string, string>);
			if (answer.workflowData) started.push(answer.workflowData[0][0].json);
			return { status, said };
		});
		await trigger.activate();
		const run = await completes();
		const told = await gate.until(async () => started[0], 'a delivery');
		assert.equal(told.type, 'run.completed');
		const member = told.effectgate as IDataObject;
		assert.equal(member.run, run);
		assert.equal(member.delivery, real!.headers['webhook-id']);

		const headers = real!.headers as Record<string, string>;
		const forged: Array<[Buffer, Record<string, string>]> = [
			[Buffer.from(real!.raw.toString().replace('completed', 'failed')), headers],
			[real!.raw, { ...headers, 'webhook-signature': `v1,${Buffer.alloc(32).toString('base64')}` }],
			[real!.raw, { ...headers, 'webhook-id': 'another' }],
			[real!.raw, {}],
		];
		for (const [raw, given] of forged) {
			const { answer, status } = await trigger.called(raw, given);
			assert.equal(status, 401);
			assert.equal(answer.workflowData, undefined);
			assert.equal(answer.noWebhookResponse, true);
		}
		await trigger.deactivate();
	});
});
