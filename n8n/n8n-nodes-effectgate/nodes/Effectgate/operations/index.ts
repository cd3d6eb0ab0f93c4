import type { Operation } from './operation';
import { getApproval } from './approval';
import { begin, settle } from './effect';
import { propose } from './propose';
import { correct, explain, getRun } from './reading';
import { reserve } from './reserve';
import { complete, fail, renew } from './settling';

/** By resource and operation; Send and Wait is not here, because it does not answer at once. */
export const OPERATIONS: Record<string, Operation> = {
	'run.reserve': reserve,
	'run.renew': renew,
	'run.propose': propose,
	'run.complete': complete,
	'run.fail': fail,
	'run.explain': explain,
	'run.get': getRun,
	'run.correct': correct,
	'effect.begin': begin,
	'effect.settle': settle,
	'approval.get': getApproval,
};
