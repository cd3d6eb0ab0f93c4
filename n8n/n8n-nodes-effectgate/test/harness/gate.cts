// The real server, from a debug build, on a free port of this machine with a database in a temporary folder.
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { cp, mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

const API_KEY = 'the-first-admin-key-of-the-node-tests';
const ROOT = resolve(__dirname, '../../../..');

/** EFFECTGATE_BIN names the binary; else the debug build of this repository is taken. */
function binary(): string {
	const built = join(process.env.CARGO_TARGET_DIR ?? join(ROOT, 'target'), 'debug', 'effectgate');
	const found = process.env.EFFECTGATE_BIN ?? built;
	if (!existsSync(found))
		throw new Error(`no gate at ${found}: cargo build -p effectgate, or set EFFECTGATE_BIN`);
	return found;
}

export class Gate {
	readonly apiKey = API_KEY;

	private constructor(
		readonly url: string,
		private readonly folder: string,
		private readonly child: ChildProcess,
		private readonly log: string[],
	) {}

	/** @param more settings by their names in the environment, without the prefix `EFFECTGATE__` */
	static async start(more: Record<string, string> = {}): Promise<Gate> {
		const folder = await mkdtemp(join(tmpdir(), 'effectgate-node-'));
		await cp(join(__dirname, 'gate.toml'), join(folder, 'gate.toml'));
		await cp(join(__dirname, 'reply.json'), join(folder, 'reply.json'));
		const port = await freePort();
		const settings = { SERVER__LISTEN: `127.0.0.1:${port}`, ...more };
		const child = spawn(binary(), ['serve', '--config', join(folder, 'gate.toml')], {
			cwd: folder,
			env: {
				PATH: process.env.PATH,
				EFFECTGATE_BOOTSTRAP_KEY: API_KEY,
				...Object.fromEntries(
					Object.entries(settings).map(([name, value]) => [`EFFECTGATE__${name}`, value]),
				),
			},
			stdio: ['ignore', 'pipe', 'pipe'],
		});
		const log: string[] = [];
		child.stdout.on('data', (chunk: Buffer) => log.push(chunk.toString()));
		child.stderr.on('data', (chunk: Buffer) => log.push(chunk.toString()));
		const gate = new Gate(`http://127.0.0.1:${port}`, folder, child, log);
		await gate.ready();
		return gate;
	}

	async stop(): Promise<void> {
		if (this.child.exitCode === null) {
			this.child.kill('SIGTERM');
			await once(this.child, 'exit');
		}
		await rm(this.folder, { recursive: true, force: true });
	}

	/** Calls the API as the administrator's key. */
	async api<T>(method: string, path: string, body?: unknown): Promise<{ status: number; body: T }> {
		const response = await fetch(this.url + path, {
			method,
			headers: { authorization: `Bearer ${API_KEY}`, 'content-type': 'application/json' },
			body: body === undefined ? undefined : JSON.stringify(body),
		});
		const text = await response.text();
		return { status: response.status, body: (text === '' ? undefined : JSON.parse(text)) as T };
	}

	/** Decides as the person who got the link: opens the card, presses the button. */
	async decide(link: string, decision: 'approve' | 'reject', reason = 'because'): Promise<void> {
		const card = await fetch(link);
		const page = await card.text();
		const csrf = hidden(page, 'csrf');
		const effectsHash = hidden(page, 'effects_hash');
		const cookie = (card.headers.get('set-cookie') ?? '').split(';')[0];
		const answer = await fetch(link, {
			method: 'POST',
			redirect: 'manual',
			headers: { 'content-type': 'application/x-www-form-urlencoded', cookie, origin: this.url },
			body: new URLSearchParams({ csrf, effects_hash: effectsHash, decision, reason }).toString(),
		});
		if (answer.status >= 400) throw new Error(`deciding: ${answer.status} ${await answer.text()}`);
	}

	/** Asks again until it holds: what the gate's workers do by themselves has no other sign. */
	async until<T>(ask: () => Promise<T | undefined>, what: string): Promise<T> {
		const end = Date.now() + 20_000;
		while (Date.now() < end) {
			const found = await ask();
			if (found !== undefined) return found;
			await pause(50);
		}
		throw new Error(`${what} did not come about\n${this.log.slice(-20).join('')}`);
	}

	private async ready(): Promise<void> {
		await this.until(async () => {
			if (this.child.exitCode !== null) throw new Error(`the gate ended:\n${this.log.join('')}`);
			return await fetch(`${this.url}/healthz`).then(
				(response) => (response.ok ? true : undefined),
				() => undefined,
			);
		}, 'the gate');
	}
}

function hidden(page: string, name: string): string {
	const found = new RegExp(`name="${name}" value="([^"]*)"`).exec(page);
	if (!found) throw new Error(`the card has no field ${name}`);
	return found[1];
}

export async function freePort(): Promise<number> {
	const server = createServer().listen(0, '127.0.0.1');
	await once(server, 'listening');
	const { port } = server.address() as { port: number };
	server.close();
	await once(server, 'close');
	return port;
}

const pause = async (ms: number) => await new Promise((done) => setTimeout(done, ms));
