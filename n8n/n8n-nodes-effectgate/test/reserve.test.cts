import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, it } from 'node:test';

import type { IDataObject } from 'n8n-workflow';

import { Gate } from './harness/gate.cts';
import { Execution, told, type World } from './harness/n8n.cts';

const FORM = {
	resource: 'run',
	operation: 'reserve',
	flow: 'free',
	keySource: 'shop',
	keyEventType: 'order.paid',
	keyExternalId: '={{ $json.body.id }}',
	keyVersion: '={{ $json.body.version ?? 1 }}',
};

let gate: Gate;
before(async () => {
	gate = await Gate.start();
});
after(async () => await gate.stop());

const event = (id: string, more: IDataObject = {}) => ({
	json: { body: { id, ...more }, headers: { date: randomUUID() } },
});

function reserving(world: Partial<World> = {}, parameters: IDataObject = {}): Execution {
	return new Execution({ gate, ...world }, [{ name: 'Reserve', parameters: { ...FORM, ...parameters } }]);
}

describe('reserve', () => {
	it('lets one of ten executions that come at once acquire the event, and tells the nine others who has it', async () => {
		const id = randomUUID();
		const all = await Promise.all(
			Array.from(
				{ length: 10 },
				async (_, n) => await reserving({ execution: String(n) }).run('Reserve', [event(id)]),
			),
		);
		const acquired = all.flatMap(([items]) => items);
		const duplicates = all.flatMap(([, items]) => items);
		assert.equal(acquired.length, 1);
		assert.equal(duplicates.length, 9);
		assert.equal(all.flatMap(([, , items]) => items).length, 0);
		assert.deepEqual(new Set(duplicates.map((item) => told(item).run)), new Set([told(acquired[0]).run]));
		assert.ok(
			duplicates.every((item) => told(item).owner === undefined),
			'a loser carries no lease',
		);
	});

	it('lets one of ten identical items of one execution acquire the event', async () => {
		const id = randomUUID();
		const [acquired, duplicate] = await reserving().run(
			'Reserve',
			Array.from({ length: 10 }, () => ({ json: { body: { id } } })),
		);
		assert.equal(acquired.length, 1);
		assert.equal(duplicate.length, 9);
	});

	it('gives each item its own key and its own answer, paired with the item it came from', async () => {
		const [mine, theirs] = [randomUUID(), randomUUID()];
		await reserving({ execution: 'other' }).run('Reserve', [event(theirs)]);
		const [acquired, duplicate, problem] = await reserving().run('Reserve', [
			event(mine),
			event(theirs),
			{ json: { body: {} } },
		]);
		assert.deepEqual(
			[acquired, duplicate, problem].map((items) => items.map((item) => item.pairedItem)),
			[[{ item: 0 }], [{ item: 1 }], [{ item: 2 }]],
		);
		assert.equal(told(acquired[0]).key, `shop:order.paid:${mine}:1`);
		assert.equal((acquired[0].json.body as IDataObject).id, mine, 'the event goes on with the item');
	});

	it('sends more items than one request may hold', async () => {
		const [acquired] = await reserving().run(
			'Reserve',
			Array.from({ length: 230 }, () => event(randomUUID())),
		);
		assert.equal(acquired.length, 230);
		assert.deepEqual(
			acquired.map((item) => item.pairedItem),
			acquired.map((_, item) => ({ item })),
		);
	});

	it('gives a retry of the same node the same grant, though the first answer was lost', async () => {
		const id = randomUUID();
		const execution = reserving({ loseAnswers: 1 });
		await assert.rejects(execution.run('Reserve', [event(id)]), (error: Error & { description?: string }) => {
			assert.match(error.message, /could not be reached/);
			assert.match(error.description ?? '', /Nothing is lost/);
			return true;
		});
		const [[again]] = await execution.run('Reserve', [event(id)]);
		assert.equal(told(again).answer, 'granted');
		assert.equal(told(again).repeated, true);
		assert.equal(told(again).fence, 1);
	});

	it('derives the owner from workflow, execution, node and item', async () => {
		const [[first], ,] = await reserving({ workflow: 'w7', execution: '42' }).run('Reserve', [
			event(randomUUID()),
		]);
		assert.equal(told(first).owner, 'n8n:w7:42:id-Reserve:0');
	});

	it('tells a duplicate of a completed event its result', async () => {
		const id = randomUUID();
		const first = new Execution({ gate }, [
			{ name: 'Reserve', parameters: FORM },
			{ name: 'Done', parameters: { resource: 'run', operation: 'complete', result: '={"ticket": 7}' } },
		]);
		await first.run('Reserve', [event(id)]);
		await first.run('Done');
		const [acquired, [duplicate]] = await reserving({ execution: '2' }).run('Reserve', [event(id)]);
		assert.equal(acquired.length, 0);
		assert.equal(told(duplicate).answer, 'replay');
		assert.equal(told(duplicate).state, 'completed');
		assert.deepEqual(told(duplicate).result, { ticket: 7 });
	});

	it('puts another payload under the same key on Problem, with what to do, and fails nothing', async () => {
		const id = randomUUID();
		await reserving().run('Reserve', [event(id, { amount: 10 })]);
		const [acquired, duplicate, [problem]] = await reserving({ execution: '2' }).run('Reserve', [
			event(id, { amount: 99 }),
		]);
		assert.equal(acquired.length + duplicate.length, 0);
		const { code, what_to_do: todo } = told(problem).problem as IDataObject;
		assert.equal(code, 'payload_conflict');
		assert.match(String(todo), /Do not retry/);
	});

	it('takes the event without the headers of its delivery as the payload', async () => {
		const id = randomUUID();
		await reserving().run('Reserve', [event(id)]);
		const [, [duplicate]] = await reserving({ execution: '2' }).run('Reserve', [event(id)]);
		assert.equal(told(duplicate).answer, 'busy');
	});

	it('throws what is a fault of the setup, with the code and what to do', async () => {
		await assert.rejects(
			reserving({}, { flow: 'nowhere' }).run('Reserve', [event(randomUUID())]),
			(error: Error & { description?: string; httpCode?: string }) => {
				assert.match(error.message, /unknown_flow/);
				assert.match(error.description ?? '', /effectgate check/);
				assert.equal(error.httpCode, '400');
				return true;
			},
		);
	});

	it('says that the API key is wrong, and what to do', async () => {
		const stranger = { gate: { url: gate.url, apiKey: 'not-a-key' } };
		await assert.rejects(
			reserving(stranger).run('Reserve', [event(randomUUID())]),
			(error: Error & { description?: string }) => {
				assert.match(error.message, /unauthorized/);
				assert.match(error.description ?? '', /effectgate key create/);
				return true;
			},
		);
	});

	it('puts a fault on Problem and never on Acquired where the node continues on failures', async () => {
		const [acquired, duplicate, problem] = await reserving({ continueOnFail: true }, { flow: 'nowhere' }).run(
			'Reserve',
			[event(randomUUID()), event(randomUUID())],
		);
		assert.equal(acquired.length + duplicate.length, 0);
		assert.deepEqual(
			problem.map((item) => item.pairedItem),
			[{ item: 0 }, { item: 1 }],
		);
		assert.match(String(problem[0].json.error), /unknown_flow/);
		assert.equal((told(problem[0]).problem as IDataObject).code, 'unknown_flow');
		assert.ok(problem[0].error, "n8n's error output takes it by this member");
	});

	it('puts every item on Problem where the gate is away and the node continues on failures', async () => {
		const away = { url: 'http://127.0.0.1:9', apiKey: 'x' };
		const [acquired, , problem] = await reserving({ gate: away, continueOnFail: true }).run('Reserve', [
			event('1'),
			event('2'),
		]);
		assert.equal(acquired.length, 0);
		assert.equal(problem.length, 2);
	});

	it('says so if what answers is not the gate', async () => {
		const { createServer } = await import('node:http');
		const server = createServer((_, response) => {
			response.writeHead(302, { location: '/login' }).end('<html>');
		}).listen(0, '127.0.0.1');
		await new Promise((done) => server.once('listening', done));
		const { port } = server.address() as { port: number };
		await assert.rejects(
			reserving({ gate: { url: `http://127.0.0.1:${port}`, apiKey: 'x' } }).run('Reserve', [event('1')]),
			/not an Effectgate server/,
		);
		server.close();
	});
});
