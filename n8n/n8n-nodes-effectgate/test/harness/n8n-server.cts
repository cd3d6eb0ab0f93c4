// The side of n8n that the gate calls: an address that hands every call to a node's webhook and answers as it does.
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';

export interface Call {
	path: string;
	headers: IncomingHttpHeaders;
	raw: Buffer;
}

export type Answer = { status: number; said?: unknown };

export class N8nServer {
	readonly calls: Call[] = [];

	/** What a path answers; anything else is what n8n says of a webhook that is not registered. */
	readonly routes = new Map<string, (call: Call) => Promise<Answer> | Answer>();

	private constructor(
		private readonly server: Server,
		readonly url: string,
	) {}

	static async start(): Promise<N8nServer> {
		const server = createServer().listen(0, '127.0.0.1');
		await once(server, 'listening');
		const { port } = server.address() as { port: number };
		const n8n = new N8nServer(server, `http://127.0.0.1:${port}`);
		server.on('request', (request, response) => {
			const chunks: Buffer[] = [];
			request.on('data', (chunk: Buffer) => chunks.push(chunk));
			request.on('end', () => {
				const path = new URL(request.url ?? '/', n8n.url).pathname;
				const call = { path, headers: request.headers, raw: Buffer.concat(chunks) };
				n8n.calls.push(call);
				const route =
					n8n.routes.get(path) ?? (() => ({ status: 404, said: { message: 'is not registered' } }));
				void Promise.resolve(route(call)).then(({ status, said }) => {
					response.writeHead(status, { 'content-type': 'application/json' });
					response.end(JSON.stringify(said ?? {}));
				});
			});
		});
		return n8n;
	}

	async stop(): Promise<void> {
		this.server.closeAllConnections();
		this.server.close();
		await once(this.server, 'close');
	}
}
