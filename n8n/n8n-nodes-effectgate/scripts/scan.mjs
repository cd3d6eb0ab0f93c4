// The half of n8n's package scanner that needs no network: the same rules as at verification, on the sources and on what
// `npm pack` puts into the package. The other half reads the published provenance and cannot run before a release.
import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { analyzePackage, SOURCE_FILE_PATTERNS } from '@n8n/scan-community-package/scanner/scanner.mjs';

const run = promisify(execFile);
const here = fileURLToPath(new URL('..', import.meta.url));
const folder = await mkdtemp(join(tmpdir(), 'effectgate-scan-'));

async function look(what, at, patterns) {
	const { passed, message, details } = await analyzePackage(at, patterns);
	console.log(`${what}: ${passed ? 'passed' : 'refused'}`);
	if (!passed) console.error(message ?? '', details ?? '');
	return passed;
}

try {
	const { stdout } = await run('npm', ['pack', '--silent', '--pack-destination', folder], { cwd: here });
	await run('tar', ['xzf', join(folder, stdout.trim().split('\n').at(-1)), '-C', folder]);
	const source = await look('sources', here, SOURCE_FILE_PATTERNS);
	const packed = await look('package', join(folder, 'package'), ['**/*.js', 'package.json']);
	process.exitCode = source && packed ? 0 : 1;
} finally {
	await rm(folder, { recursive: true, force: true });
}
