// The gate's answers as this package reads them, all named by the generated types: a member that the server renames
// breaks the build here. Nothing is described a second time.
import type { components } from './openapi';

type Schemas = components['schemas'];

export type Problem = Schemas['Problem'] & {
	errors?: unknown[];
	repairs_left?: number;
	repeated?: boolean;
};
export type Run = Schemas['RunView'];
export type Effect = Schemas['EffectView'];
export type Approval = Schemas['ApprovalView'];
export type ResumeRequest = Schemas['ResumeRequest'];
export type ResumeAnswer = Schemas['ResumeAnswer'];
export type Subscription = Schemas['SubscriptionView'];
export type SubscriptionList = Schemas['SubscriptionList'];
export type Lease = Schemas['LeaseView'];
export type ReserveRequest = Schemas['ReserveRequest'];
export type ReserveAnswer = Schemas['ReserveAnswer'];
export type RenewAnswer = Schemas['RenewAnswer'];
export type ProposalAnswer = Schemas['ProposalAnswer'];
export type CompleteAnswer = Schemas['CompleteAnswer'];
export type FailAnswer = Schemas['FailAnswer'];
export type BeginAnswer = Schemas['BeginAnswer'];
export type SettleAnswer = Schemas['SettleAnswer'];
export type CorrectAnswer = Schemas['CorrectAnswer'];
export type Explanation = Schemas['Explanation'];
