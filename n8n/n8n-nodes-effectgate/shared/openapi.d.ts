// Made by `npm run types` from openapi/effectgate.json; do not edit.
export interface paths {
    "/healthz": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Say that the process is alive. */
        get: operations["healthz"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/in/{source}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Bring an event.
         * @description For senders that sign what they send: the section `[sources.NAME]` says how. The body is kept as it came, whatever its
         *     `Content-Type`; `Content-Encoding: gzip` is unpacked. 202 `accepted`: it is durable, and a worker gets it. 200
         *     `duplicate`: the same event came before. 200 `conflict`: its key stands for another payload; nothing was merged. 200
         *     `quarantined`: it is kept, and a person looks at it before anything is done. All four tell a sender to stop.
         */
        post: operations["accept"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/mcp/{flow}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * The flow's tools over MCP.
         * @description Streamable HTTP without sessions: `initialize`, `tools/list`, `tools/call`, one JSON-RPC message each. The key is set
         *     by the workflow, percent-encoded in `?key=` of the endpoint's URL or in the header `Idempotency-Key`; without one the
         *     tools are listed and a call is refused. The result of a call is the answer of `POST /v1/tools/{flow}/{effect_type}`,
         *     its message as text and all of it as structured content.
         */
        post: operations["serve_mcp"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/out/{provider}/{path}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Send a request to a provider through the gate.
         * @description Any method that the provider's section `out` allows. The path, the query, `Content-Type`, `Accept` and the body go on
         *     as they come; credentials and the provider's key are the gate's. The first request under a key is sent once, and its
         *     answer is given again to every repeat, with `Idempotent-Replayed: true`. Every answer names the run and the effect in
         *     `Effectgate-Run` and `Effectgate-Effect`.
         */
        post: operations["send_out"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/readyz": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Say whether the process can do its work: database, schema, workers. */
        get: operations["readyz"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/approvals": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Find approvals.
         * @description Callers whose scope or role lets them look around see all of them; everybody else who is signed in sees those they
         *     were asked about. What an approval is about is in the answer to one of them.
         */
        get: operations["find_approvals"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/approvals/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read an approval with the effects it is about.
         * @description For operators and auditors, keys with the scope approver, and signed-in people who were asked, decided, or asked for
         *     it. A key with the scope worker follows it: state, decisions with who and reason, the effects without their payloads.
         */
        get: operations["get_approval"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/approvals/{id}/decide": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Decide an approval, as a signed-in person.
         * @description Wants the session's cookie and the header `Effectgate-Csrf: 1`; an API key cannot decide, whatever its scopes.
         *     `edit` is edit and approve: the effects get a new hash, earlier approvals do not count any more, and unless the flow
         *     waives it, somebody who edited nothing has to approve too.
         */
        post: operations["decide"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/approvals/{id}/resume": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        /**
         * Say where an execution waits for an approval.
         * @description Once the approval has ended (approved, rejected, expired or withdrawn), the address is called by POST with
         *     `approval_id`, `run_id` and `state`; that call is an effect of the flow `n8n-resume`. If it has ended already, the call
         *     is queued at once. The same address again changes nothing; another one takes its place while the approval is open.
         */
        put: operations["resume_approval"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/approvals/{id}/withdraw": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Take a question back.
         * @description For operators, and for the signed-in person who asked for the run. The approval ends as `withdrawn`, its run as
         *     `failed_terminal` with the reason `approval_withdrawn`; nothing goes out.
         */
        post: operations["withdraw_approval"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/effects": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Find effects. */
        get: operations["find_effects"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/effects/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Read an effect. */
        get: operations["get_effect"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/effects/{id}/cancel": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Cancel an effect that has not left.
         * @description Operators may as long as it has not left. Within its cancel window (state `scheduled`) a signed-in person may who is
         *     in the audience of the run's approval, or of the flow's where no approval was needed.
         */
        post: operations["cancel_effect"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/effects/{id}/look": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Ask the provider what became of an effect.
         * @description The declared lookup is asked now, whatever state the effect is in; it never writes over there. The answer is
         *     recorded. It settles nothing: that is `resolve`, on a person's word, or the reconciler's at its own time. An answer
         *     that contradicts what is on record is told to people, and changes nothing.
         */
        post: operations["look_effect"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/effects/{id}/resolve": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Settle an effect whose outcome is not known, on a person's word.
         * @description `happened` completes it; `did_not_happen` with `then: send_again` makes one more attempt with the same provider key,
         *     with `then: cancel` ends it. A program that may repeat the call names `fence`: "send again" twice is then one attempt,
         *     also where the first was lost in between.
         */
        post: operations["resolve_effect"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/effects/{id}/settle": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Settle an inline effect by what the provider answered. */
        post: operations["settle_effect"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/journal/export": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Export the journal as NDJSON, one entry a line.
         * @description `hash` is SHA-256 over the bytes of `entry` as they stand. The last line is `{"end": true, "chains": …, "entries": …}`;
         *     without it the export was cut off.
         */
        get: operations["export_journal"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/journal/verify": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Verify the hash chains of every run and of the house. */
        get: operations["verify_journal"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/replays": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List replay plans. */
        get: operations["list_replays"];
        put?: never;
        /**
         * Make a replay plan, or only say what one would be.
         * @description `dry_run: true` (200) stores no plan, changes no run and sends nothing; it leaves one entry in the record. Otherwise
         *     (201) the plan is kept and may be executed until it expires.
         */
        post: operations["plan_replay"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/replays/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Read a replay plan: what was planned, how far it is, and each key before, after and now. */
        get: operations["get_replay"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/replays/{id}/execute": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Execute a replay plan.
         * @description Runs in the background, item by item; 202 while it runs, 200 when it has ended. What changed since the plan is
         *     skipped. Executing it again creates nothing: the same report comes back, and what was cut off goes on.
         */
        post: operations["execute_replay"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/runs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Find runs. */
        get: operations["find_runs"];
        put?: never;
        /**
         * Reserve the key of one business event.
         * @description Exactly one of: `granted` (201), `busy` (202 with `Retry-After`), `replay` (200 with `Idempotent-Replayed: true`),
         *     the problem `payload_conflict` (422), or a refusal (400). Safe to repeat: the same owner gets the same grant.
         */
        post: operations["reserve"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/runs/batch": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Reserve many keys at once.
         * @description Reservations run side by side; each has its own status and body, in order. The request's status is 200 if it could be
         *     read at all: look at each answer.
         */
        post: operations["reserve_batch"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/runs/claim": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Claim a due run of a flow.
         * @description Queued, failed_retryable whose time has come, or left behind by a worker whose lease is over. The answer has the
         *     payload: this worker did not bring it.
         */
        post: operations["claim"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/runs/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Read a run. */
        get: operations["get_run"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/runs/{id}/close": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** End a quarantined run. */
        post: operations["close_run"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/runs/{id}/complete": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Complete a run with its result. */
        post: operations["complete"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/runs/{id}/correct": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Correct a run that has ended.
         * @description Makes a new run with a key of its own, linked to this one in both records. It waits for a worker, which is shown what
         *     the original had done, and goes through its own gate. A key made from the original's is refused (`correction_key`).
         */
        post: operations["correct_run"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/runs/{id}/corrections": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List the runs that correct this one. */
        get: operations["list_corrections"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/runs/{id}/effects": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Begin an inline effect: the marker is durable before the worker calls the provider.
         * @description `begun: false` says that it was begun before, with what is known of it: do not call the provider again.
         */
        post: operations["begin_effect"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/runs/{id}/explain": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Explain a run: was it processed, was it sent, why not, who approved, what would make it go. */
        get: operations["explain_run"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/runs/{id}/fail": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Fail a run with a class of the retry matrix.
         * @description The answer says whether there will be another attempt, when, and how many are left: a workflow needs no retry policy
         *     of its own.
         */
        post: operations["fail"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/runs/{id}/journal": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Read a run's journal. */
        get: operations["read_journal"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/runs/{id}/proposal": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Propose what the model produced.
         * @description An invalid one is the problem `invalid_output` with every finding and the repairs that are left.
         */
        post: operations["propose"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/runs/{id}/release": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Put a quarantined run back into the queue. */
        post: operations["release_run"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/runs/{id}/renew": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Renew a lease that lives.
         * @description The total life of one chain of renewals is bounded by the flow (`lease_total_ms_max`); a lease that is over cannot be
         *     renewed.
         */
        post: operations["renew"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/session": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Sign in with a local account. */
        post: operations["sign_in"];
        /** Sign out. Without a session nothing happens. */
        delete: operations["sign_out"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/subscriptions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List subscriptions.
         * @description Those of this API key; an administrator sees all of the tenant.
         */
        get: operations["list_subscriptions"];
        put?: never;
        /**
         * Register a URL for events.
         * @description The same URL again is the same subscription, with these events. Each event is sent at least once, signed as Standard
         *     Webhooks says with a key made of this API key; a repeat has the same `webhook-id`.
         */
        post: operations["subscribe"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/subscriptions/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Drop a subscription, with what is on its way to it.
         * @description Says 204 also if it is gone: dropping twice is harmless.
         */
        delete: operations["unsubscribe"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/switches": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Read the switches. */
        get: operations["list_switches"];
        /**
         * Turn a switch.
         * @description After "off" is answered no new request leaves for the scope, on any replica; what is on the wire ends and is recorded.
         */
        put: operations["turn_switch"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/switches/drill": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Drill a switch.
         * @description Says what turning it off would hold back now: each open effect is put to the dispatcher's own question, with this
         *     switch off. Nothing is turned and nothing is held; the counts go into the journal.
         */
        post: operations["drill_switch"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/tools/{flow}/{effect_type}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Call a tool: an effect type of a flow, for an agent.
         * @description The body is the arguments that the model wrote. The key comes from the workflow, in the header `Idempotency-Key` or
         *     percent-encoded in `?key=`: it names the request that the agent works on, and one request does each effect type once.
         *     Always 200 for a call that could be read; `answer` says what came of it and `message` tells a model what to do now.
         *     A decision of a person is never waited for.
         */
        post: operations["call_tool"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/whoami": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Say who the caller is. */
        get: operations["whoami"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export type webhooks = Record<string, never>;
export interface components {
    schemas: {
        /** @description An approval with what it is about. */
        ApprovalDetail: components["schemas"]["ApprovalView"] & {
            /** @description What people changed, oldest first, with the values. */
            edits: components["schemas"]["EditDetail"][];
            /** @description The effects as they would go out; `effects_hash` is over exactly these. */
            effects: components["schemas"]["ProposedView"][];
            run: components["schemas"]["RunView"];
            /** @description Why a person is asked. */
            why: string[];
        };
        /** @description An approval with its run's bearings. */
        ApprovalItem: components["schemas"]["ApprovalView"] & {
            flow: string;
            key: string;
        };
        /** @description A page of approvals; open ones by their expiry. */
        ApprovalList: {
            approvals: components["schemas"]["ApprovalItem"][];
            next_cursor?: string | null;
        };
        ApprovalView: {
            /** @description Approvals of the effects as they are now. */
            approvals?: number;
            audience: string[];
            /** @description All of them, those about earlier effects too. */
            decisions: components["schemas"]["DecisionView"][];
            /** @description `undeliverable` as long as nobody could be told of it. */
            delivery?: string | null;
            /** @description What people changed, oldest first: where, not what. */
            edits?: components["schemas"]["EditView"][];
            effects_hash: string;
            expires_at: string;
            id: string;
            /** @description Only where the flow says that the caller delivers the link. */
            link?: string | null;
            /** @description `approved`, `rejected`, `expired`, `withdrawn` or `undeliverable`; null while it is open. */
            outcome?: string | null;
            /** Format: int32 */
            quorum: number;
            resume?: components["schemas"]["ResumeView"] | null;
            run_id: string;
            state: string;
            /** @description How many are still wanted; 0 once it has ended. */
            wanted?: number;
            /** @description True if the next one must be by somebody who edited nothing: whoever edited is not the only one who approves. */
            wanted_by_non_editor?: boolean;
            withdrawn?: components["schemas"]["WithdrawalView"] | null;
        };
        AttemptStory: {
            at: string;
            /** Format: int64 */
            bytes_sent?: number | null;
            class?: string | null;
            detail?: string | null;
            /** Format: int64 */
            fence: number;
            n: number;
            /** @description `sending` while it is under way or was lost. */
            outcome: string;
            phase?: string | null;
            /** Format: int32 */
            status?: number | null;
        };
        /** @description The answers, in the order of the reservations. */
        BatchAnswer: {
            answers: components["schemas"]["BatchItem"][];
        };
        /** @description What the reservation would have been answered alone. */
        BatchItem: {
            body: Record<string, never>;
            /** Format: int32 */
            status: number;
        };
        /** @description Reservations, at most 100. */
        BatchRequest: {
            runs: components["schemas"]["ReserveRequest"][];
        };
        BeginAnswer: components["schemas"]["Begun"] & {
            repeated: boolean;
        };
        /**
         * @example {
         *       "fence": 1,
         *       "owner": "worker-1",
         *       "payload": {
         *         "note": "…"
         *       },
         *       "target": "A-17",
         *       "type": "crm_note"
         *     }
         */
        BeginRequest: {
            /** Format: int64 */
            fence: number;
            owner: string;
            payload: Record<string, never>;
            target?: string | null;
            type: string;
        };
        /** @description The answer to `effects`. */
        Begun: {
            /** @description False: it was begun before; `effect` says what is known. */
            begun: boolean;
            effect: components["schemas"]["EffectView"];
        };
        /** @description One chain that does not verify. */
        Broken: {
            detail: string;
            run: string;
        };
        /** @description Where something changed, and what from and to. */
        ChangeView: components["schemas"]["ChangedView"] & {
            after?: Record<string, never> | null;
            before?: Record<string, never> | null;
        };
        /** @description Where something changed. `effect` counts from 0, `pointer` leads into its payload. */
        ChangedView: {
            effect: number;
            /** @description `added`, `removed` or `changed`. */
            kind: string;
            pointer: string;
        };
        /** @enum {string} */
        Choice: "approve" | "reject" | "edit";
        /**
         * @description A claim.
         * @example {
         *       "flow": "ticket-reply",
         *       "lease_ms": 300000,
         *       "owner": "worker-1"
         *     }
         */
        ClaimRequest: {
            flow: string;
            /** Format: int64 */
            lease_ms?: number | null;
            owner?: string | null;
        };
        /** @description An answer that says whether it was given before. */
        CompleteAnswer: components["schemas"]["Completed"] & {
            repeated: boolean;
        };
        /**
         * @example {
         *       "fence": 1,
         *       "owner": "worker-1",
         *       "result": {
         *         "crm_id": "N-1"
         *       }
         *     }
         */
        CompleteRequest: {
            /** Format: int64 */
            fence: number;
            owner: string;
            /** @description Any JSON; a replay gives it back as the text that came in. Left out: `null`. */
            result?: Record<string, never> | null;
        };
        /** @description The answer to `complete`. */
        Completed: {
            run: components["schemas"]["RunView"];
        };
        /** @description The answer to a correction. */
        CorrectAnswer: {
            /** @description `queued`, or `replay` where the same correction was asked for before. */
            answer: string;
            /** @description The new run, with `corrects` and `original`. */
            run: components["schemas"]["RunView"];
        };
        /**
         * @description A correction. `key` or `key_parts`: its own, from upstream.
         * @example {
         *       "key": "ticket.reply:zendesk:comment_1024:1",
         *       "payload": {
         *         "customer": {
         *           "email": "a@example.test"
         *         }
         *       },
         *       "reason": "the first answer named the wrong order",
         *       "trigger": {
         *         "delivery_id": "d-91",
         *         "source": "zendesk"
         *       }
         *     }
         */
        CorrectGiven: {
            /** @description Left out: the original's. */
            flow?: string | null;
            key?: string | null;
            key_parts?: components["schemas"]["PartsGiven"] | null;
            /** @description Any JSON; kept and sent on as the text that came in. */
            payload?: Record<string, never>;
            reason?: string;
            trigger?: components["schemas"]["Words"] | null;
        };
        /** @description The runs that correct one. */
        CorrectionList: {
            corrections: components["schemas"]["CorrectionView"][];
        };
        /** @description A run that corrects another, for the page of the original. */
        CorrectionView: {
            by: string;
            created_at: string;
            flow: string;
            key: string;
            reason: string;
            run_id: string;
            state: string;
        };
        /** @description The most that an execution may cost, as far as it can be known before the workers work. */
        Cost: {
            /** @description Claims that it allows: one for each run. */
            attempts: number;
            /** @description Effects of these runs that are not final: the next owner goes on with them. */
            effects_open: number;
            /** @description How often a worker may call its model: once for each run. */
            model_runs: number;
        };
        Counts: {
            /** @description Runs that match, up to the limit. */
            matching: number;
            refused: number;
            replayable: number;
            /** @description Runs that have done something outside already. */
            with_results: number;
        };
        DecideAnswer: {
            /** @description `approve`, `reject` or `edit`. */
            decision: string;
            repeated: boolean;
            run: components["schemas"]["RunView"];
        };
        /**
         * @description A decision. `effects` belongs to `edit`: every effect as shown, with other payloads.
         * @example {
         *       "decision": "approve",
         *       "effects_hash": "sha256:…"
         *     }
         */
        DecideRequest: {
            decision: components["schemas"]["Choice"];
            /** @description With `edit`: all effects in the order shown. Payloads may change; number, order, types and targets stay. */
            effects?: components["schemas"]["EffectAsked"][] | null;
            /** @description As it was shown; if the effects are others now, nothing is decided. */
            effects_hash: string;
            /** @description Required to reject. */
            reason?: string | null;
        };
        DecisionView: {
            at: string;
            decision: string;
            /** @description The effects it is about; of an edit, those that came of it. */
            effects_hash?: string | null;
            reason?: string | null;
            subject: string;
            /** @description True if the effects are others by now: it stays on record and does not count. */
            superseded?: boolean;
        };
        /** @description How a run that came in at a source stands with the source's worker. */
        DeliveryStory: {
            /** @description Calls to the worker, in the last thousand entries of the record. */
            calls: number;
            last_call_at?: string | null;
            source: string;
            /**
             * @description `held_back` (quarantined), `waiting` (nobody was called), `calling` (called, no answer on record), `delivered`,
             *     `undelivered` (no worker took it), `failed` (the worker answered that it failed), `undeliverable` (given up).
             */
            state: string;
            text: string;
        };
        /** @description What a drill found. Counts are of this tenant's open effects. */
        Drill: {
            at: string;
            /** @description Some of those in the scope, for a look. */
            effects: components["schemas"]["DrillEffect"][];
            /**
             * Format: int64
             * @description The number of its entry in the house chain.
             */
            entry: number;
            /**
             * Format: int64
             * @description Open effects that were looked at.
             */
            examined: number;
            /**
             * Format: int64
             * @description Outside of the scope: they would go on.
             */
            goes_on: number;
            /**
             * Format: int64
             * @description Pending or scheduled in this scope, and held by another switch already.
             */
            held_already: number;
            /**
             * Format: int64
             * @description Unknown or in review in this scope: nothing leaves by itself, and a re-issue would be held.
             */
            in_doubt: number;
            /**
             * Format: int64
             * @description On the wire, or in the hands of a worker: they would end and be recorded.
             */
            in_flight: number;
            /** @description False where there were more of one state than a drill looks at. */
            is_complete: boolean;
            name: string;
            scope: string;
            /**
             * Format: int64
             * @description Pending or scheduled: this turn would hold them.
             */
            would_hold: number;
        };
        /** @description One effect of a drill. */
        DrillEffect: {
            /** @description `would_hold`, `held_already`, `in_flight` or `in_doubt`. */
            finding: components["schemas"]["Finding"];
            id: string;
            provider: string;
            state: string;
            type: string;
        };
        /**
         * @example {
         *       "name": "crm",
         *       "scope": "provider"
         *     }
         */
        DrillRequest: {
            /** @description What of that scope; left out for `all`. */
            name?: string;
            /** @description `all`, `tenant`, `flow`, `provider` or `effect_type`. */
            scope: string;
        };
        /** @description An edit with its values. */
        EditDetail: {
            at: string;
            by: string;
            changes: components["schemas"]["ChangeView"][];
            from_hash: string;
            to_hash: string;
        };
        /** @description An edit by name only: its values are content and are read where the effects are. */
        EditView: {
            at: string;
            by: string;
            changes: components["schemas"]["ChangedView"][];
            from_hash: string;
            to_hash: string;
        };
        /** @description An effect that is asked for. */
        EffectAsked: {
            /** @description Goes out byte for byte as it came in. */
            payload: Record<string, never>;
            target?: string | null;
            type: string;
        };
        /** @description An effect with its run's bearings. */
        EffectItem: components["schemas"]["EffectView"] & {
            flow: string;
            key: string;
            run_id: string;
        };
        /** @description A page of effects, most recently changed first. */
        EffectList: {
            effects: components["schemas"]["EffectItem"][];
            next_cursor?: string | null;
        };
        EffectStory: {
            attempts: components["schemas"]["AttemptStory"][];
            external_id?: string | null;
            /** @description What to search for at the provider. */
            handle?: string | null;
            id: string;
            provider: string;
            provider_key: string;
            reason?: string | null;
            state: string;
            target: string;
            type: string;
        };
        EffectView: {
            /** Format: int32 */
            attempts: number;
            executor: string;
            external_id?: string | null;
            /**
             * Format: int64
             * @description Rises with each attempt. `resolve` takes it, so that a word is about the attempt that was looked at.
             */
            fence: number;
            id: string;
            next_attempt_at?: string | null;
            not_before?: string | null;
            payload_hash: string;
            provider: string;
            provider_key: string;
            reason?: string | null;
            state: string;
            target: string;
            type: string;
        };
        /** @description One entry; `hash` is SHA-256 over the bytes of `entry` exactly as they stand here. */
        EntryView: {
            at: string;
            entry: Record<string, never>;
            hash: string;
            kind: string;
            run_id: string;
            /** Format: int64 */
            seq: number;
        };
        /**
         * @example {
         *       "reason": "looked at with the support lead"
         *     }
         */
        ExecuteReplay: {
            /** @description Written into each run's record; left out, the plan's. */
            reason?: string;
        };
        Explanation: {
            approved_by: components["schemas"]["DecisionView"][];
            delivery?: components["schemas"]["DeliveryStory"] | null;
            effects: components["schemas"]["EffectStory"][];
            flow: string;
            key: string;
            model: Record<string, never>;
            /** @description Whether a worker ever had it. */
            processed: boolean;
            reason: components["schemas"]["Reason"];
            run_id: string;
            /** @description `no`, `yes`, `partly` or `unknown`. */
            sent: string;
            state: string;
            timeline: components["schemas"]["Moment"][];
        };
        FailAnswer: components["schemas"]["Failed"] & {
            repeated: boolean;
        };
        /**
         * @example {
         *       "class": "model_timeout",
         *       "fence": 1,
         *       "message": "no answer in 60 s",
         *       "owner": "worker-1"
         *     }
         */
        FailRequest: {
            /**
             * @description `model_timeout`, `model_unavailable`, `rate_limited`, `unparseable`, `schema_invalid`, `semantic`,
             *     `partial_success`, `agent_limit`, `lost_ownership` or `worker_error`.
             */
            class: string;
            /** Format: int64 */
            fence: number;
            message?: string | null;
            owner: string;
        };
        /** @description The answer to `fail`. */
        Failed: {
            /** Format: int32 */
            attempts_left: number;
            next_attempt_at?: string | null;
            /** @description Whether there will be another attempt. */
            retry: boolean;
            run: components["schemas"]["RunView"];
        };
        FilterGiven: {
            /** @description The event type of the key's parts, or `*` for any. */
            event_type: string;
            flow: string;
            /** @description Created at or after, RFC 3339. */
            since: string;
            /** @description `failed_retryable`, `processing` (with a lease that is over), `quarantined`, or `any`. */
            state: string;
            /** @description Created before, RFC 3339. */
            until: string;
        };
        /** @description A filter as callers wrote it. */
        FilterView: {
            /** @description `*` means any. */
            event_type: string;
            flow: string;
            since: string;
            /** @description `failed_retryable`, `processing` (with a lease that is over), `quarantined` or `any`. */
            state: string;
            until: string;
        };
        /**
         * @description What the switch would mean for one effect.
         * @enum {string}
         */
        Finding: "would_hold" | "held_already" | "in_flight" | "in_doubt" | "goes_on";
        HealthAnswer: {
            /** @description `ok`. */
            status: string;
        };
        /**
         * @description What became of a delivery.
         * @example {
         *       "answer": "accepted",
         *       "run_id": "run_0123456789abcdefghjkmnpqrstvwxyz",
         *       "state": "queued"
         *     }
         */
        InAnswer: {
            /** @description `accepted`, `duplicate`, `conflict` or `quarantined`. */
            answer: string;
            /** @description With `quarantined`: `not_json`, `no_key`, `no_identity` or `schema`. */
            reason?: string | null;
            run_id: string;
            /** @description Where the run stands now. */
            state: string;
        };
        /** @description A page of a run's journal. */
        JournalPage: {
            entries: components["schemas"]["EntryView"][];
            /**
             * Format: int64
             * @description With `after=` the next page; null on the last one.
             */
            next_after?: number | null;
        };
        /** @description What a plan says of one run, and what became of it. */
        KeyView: {
            after?: components["schemas"]["Standing"] | null;
            before: components["schemas"]["Standing"];
            key: string;
            /** @description With `refused`: what to do instead. */
            next?: string | null;
            now?: components["schemas"]["Standing"] | null;
            /** @description What the execution did: `waiting`, `done` or `skipped`. Null before it and for what was refused. */
            outcome?: string | null;
            /** @description Systems that the run may touch: those of its effects, and those of its flow. */
            providers: string[];
            reason?: string | null;
            /** @description With `refused`: the code. */
            refusal?: string | null;
            /** @description External ids of what the run has done outside. */
            results: string[];
            run_id: string;
            state: string;
            verdict: components["schemas"]["Verdict"];
            /** Format: int64 */
            version: number;
            /** @description With `skipped`: why. */
            why?: string | null;
        };
        LeaseView: {
            expires_at: string;
            /** Format: int64 */
            fence: number;
            owner: string;
            /** @description Two thirds of the lease: renew before this and one lost renewal can be repeated. */
            renew_before: string;
        };
        /**
         * @description What the provider said, what it means for the effect as it stands, and what to do now.
         * @example {
         *       "answer": "looked",
         *       "effect": {
         *         "id": "eff_…",
         *         "state": "review"
         *       },
         *       "look": {
         *         "at": "2026-03-02T09:12:44.018Z",
         *         "count": null,
         *         "detail": null,
         *         "external_id": "re_81",
         *         "means": "happened",
         *         "said": "found"
         *       },
         *       "text": "It happened. Settle it as happened, with this id."
         *     }
         */
        LookAnswer: {
            /**
             * @description `looked`; `just_now` (somebody asked a moment ago, that answer stands); `no_lookup` (this provider cannot be
             *     asked from here); `nothing_sent` (no attempt was ever made).
             */
            answer: string;
            /** @description As it is now. A look settles nothing. */
            effect: components["schemas"]["EffectView"];
            look?: components["schemas"]["Told"] | null;
            /** @description For a person: what it means, and what to do now. */
            text: string;
        };
        /** @description The model's part of the story, for the journal. */
        ModelGiven: {
            name?: string | null;
            prompt_revision?: string | null;
            provider_class?: string | null;
            revision?: string | null;
        };
        Moment: {
            actor: string;
            at: string;
            kind: string;
            text: string;
        };
        /** @description Nothing is due. */
        NoneAnswer: {
            /** @description `none`. */
            answer: string;
            /** Format: int64 */
            retry_after_ms: number;
        };
        /** @description The run that a correction corrects, as it had ended. */
        OriginalView: {
            /** @description Who asked for the correction, and why. */
            corrected_by: string;
            key: string;
            reason: string;
            /** @description What happened outside, with the provider's ids. */
            results: components["schemas"]["ResultView"][];
            run_id: string;
            state: string;
        };
        /** @description The request is kept and will be sent later: the workflow goes on, or asks again with the same key. */
        OutAccepted: {
            approval_id?: string | null;
            /** @description `awaiting_approval` or `scheduled`. */
            code: string;
            detail: string;
            /** @description With `scheduled`: when it is sent unless somebody cancels. */
            not_before?: string | null;
            run: components["schemas"]["RunView"];
        };
        /** @description The parts of a key, joined in this order. */
        PartsGiven: {
            event_type: string;
            external_id: string;
            source: string;
            version: string;
        };
        /**
         * @description A plan to be made. Nothing of the filter may be left out.
         * @example {
         *       "dry_run": true,
         *       "filter": {
         *         "event_type": "*",
         *         "flow": "ticket-reply",
         *         "since": "2026-11-30T00:00:00Z",
         *         "state": "failed_retryable",
         *         "until": "2026-11-30T12:00:00Z"
         *       },
         *       "limit": 200,
         *       "reason": "the model was down until noon"
         *     }
         */
        PlanReplay: {
            /** @description True: only say what a plan would be. Anything but a boolean is refused. */
            dry_run?: boolean;
            filter: components["schemas"]["FilterGiven"];
            /**
             * Format: int32
             * @description Runs of the plan, 1 to 1000.
             */
            limit: number;
            reason?: string;
        };
        /** @description RFC 9457. Members with the present state (`run`, `errors`, `effect`, `approval` …) are added where they help. */
        Problem: {
            /** @enum {string} */
            code: "invalid_json" | "invalid_utf8" | "duplicate_member" | "lone_surrogate" | "number_out_of_range" | "too_deep" | "body_too_large" | "body_incomplete" | "body_timeout" | "unsupported_media_type" | "unknown_member" | "missing_member" | "bad_member" | "bad_parameter" | "bad_key" | "correction_key" | "missing_key" | "bad_lease" | "unknown_flow" | "unknown_class" | "invalid_payload" | "reason_required" | "reason_too_long" | "nothing_changed" | "bad_signature" | "stale_signature" | "unauthorized" | "forbidden" | "out_not_allowed" | "cross_site" | "too_many_failures" | "too_many_requests" | "local_accounts_off" | "sign_in_expired" | "sign_in_refused" | "no_role" | "issuer_unavailable" | "cannot_decide" | "login_required" | "not_in_audience" | "not_qualified" | "separation_of_duties" | "not_found" | "no_such_path" | "unknown_source" | "no_out" | "method_not_allowed" | "unknown_token" | "payload_conflict" | "url_not_allowed" | "invalid_output" | "invalid_edit" | "effect_differs" | "lease_lost" | "effects_open" | "effect_not_begun" | "wrong_state" | "key_poisoned" | "replay_expired" | "budget_used_up" | "switch_off" | "in_flight" | "outcome_unknown" | "not_sent" | "no_answer" | "answer_erased" | "approval_over" | "effects_changed" | "too_many_edits" | "already_decided" | "contended" | "database_unavailable" | "commit_unknown" | "internal";
            detail: string;
            error: {
                message?: string;
            };
            /** @description JSON Pointer to the member at fault, from the request's root. */
            pointer?: string;
            retry_after_ms?: number;
            run?: components["schemas"]["RunView"];
            status: number;
            title: string;
            /**
             * Format: uri
             * @description Leads to the page of the code.
             */
            type: string;
        } & {
            [key: string]: unknown;
        };
        /** @description The answer to a valid proposal. */
        ProposalAnswer: {
            /** @description `queued` (it goes by itself) or `waiting` (people decide). */
            answer: string;
            approval?: components["schemas"]["ApprovalView"] | null;
            repeated: boolean;
            run: components["schemas"]["RunView"];
        };
        /**
         * @description A proposal: `output` or `output_text`, and the effects it asks for.
         * @example {
         *       "effects": [
         *         {
         *           "payload": {
         *             "subject": "Your ticket",
         *             "text": "…",
         *             "to": "a@example.test"
         *           },
         *           "target": "a@example.test",
         *           "type": "customer_mail"
         *         }
         *       ],
         *       "fence": 1,
         *       "finish_reason": "stop",
         *       "model": {
         *         "name": "m",
         *         "prompt_revision": "7",
         *         "provider_class": "local-openai",
         *         "revision": "1"
         *       },
         *       "output": {
         *         "label": "question"
         *       },
         *       "owner": "worker-1"
         *     }
         */
        ProposalRequest: {
            /** Format: int64 */
            agent_iterations?: number | null;
            /** @description Left out: the flow maps the output to effects. */
            effects?: components["schemas"]["EffectAsked"][] | null;
            /** Format: int64 */
            fence: number;
            /** @description `length` and its like say that the answer was cut off, which makes it invalid. */
            finish_reason?: string | null;
            model?: components["schemas"]["ModelGiven"] | null;
            output?: Record<string, never> | null;
            /** @description Model text from which the one JSON value is taken; a text with a choice is invalid. */
            output_text?: string | null;
            owner: string;
            /** @description Who asked for it (`user:…`, `mail:…`); cannot be the only one who approves. */
            requested_by?: string | null;
            resume?: components["schemas"]["ResumeRequest"] | null;
            source_url?: string | null;
            /** @description For the card. */
            summary?: string | null;
        };
        ProposedView: {
            gate: string;
            impact: string;
            payload: Record<string, never>;
            provider: string;
            target: string;
            type: string;
        };
        ProviderTouched: {
            /** @description `enforcing`, `advisory`, or `unknown` if the config has it no more. */
            class: string;
            /** @description Effects at it that the recovered runs have already, in whatever state. */
            effects: number;
            name: string;
        };
        ReadyAnswer: {
            /** @description Why not. */
            reasons: string[];
            /** @description `ready` or `not_ready`. */
            status: string;
            workers: components["schemas"]["WorkerView"][];
        };
        /** @description One code, what it means, and what would make it go on. */
        Reason: {
            code: string;
            next: string;
            text: string;
        };
        /**
         * @example {
         *       "reason": "the customer called it off"
         *     }
         */
        ReasonRequest: {
            reason?: string;
        };
        ReceiptView: {
            /** Format: int64 */
            awaiting: number;
            /** Format: int64 */
            in_flight: number;
            /** Format: int64 */
            leased: number;
            /** Format: int64 */
            queued: number;
            /** Format: int64 */
            scheduled: number;
        };
        RenewAnswer: {
            lease: components["schemas"]["LeaseView"];
        };
        /**
         * @example {
         *       "fence": 1,
         *       "lease_ms": 300000,
         *       "owner": "worker-1"
         *     }
         */
        RenewRequest: {
            /** Format: int64 */
            fence: number;
            /**
             * Format: int64
             * @description From now. Left out: the flow's default.
             */
            lease_ms?: number | null;
            owner: string;
        };
        /** @description A page of plans, newest first, without their keys. */
        ReplayList: {
            /** @description With `cursor=` the next page; null on the last one. */
            next_cursor?: string | null;
            replays: components["schemas"]["ReplayView"][];
        };
        /**
         * @description Where a plan stands.
         * @enum {string}
         */
        ReplayStanding: "dry_run" | "planned" | "expired" | "running" | "done";
        /** @description A plan, and how far its execution is. */
        ReplayView: components["schemas"]["Summary"] & {
            /**
             * Format: int64
             * @description Of these, recovered.
             */
            done: number;
            dry_run: boolean;
            ended_at?: string | null;
            expires_at?: string | null;
            filter: components["schemas"]["FilterView"];
            /** @description None for a dry run: nothing was stored, so there is nothing to execute. */
            id?: string | null;
            /** @description In a list of plans, left out. */
            keys?: components["schemas"]["KeyView"][] | null;
            /** Format: int32 */
            limit: number;
            made_at: string;
            made_by: string;
            reason: string;
            /**
             * Format: int64
             * @description Of these, left alone because they had changed since the plan.
             */
            skipped: number;
            started_at?: string | null;
            started_by?: string | null;
            state: components["schemas"]["ReplayStanding"];
            /**
             * Format: int64
             * @description Runs that the execution is about.
             */
            total: number;
        };
        /** @description The answer to a reservation or a claim. */
        ReserveAnswer: {
            /** @description `granted`, `busy` or `replay`. */
            answer: string;
            lease?: components["schemas"]["LeaseView"] | null;
            /** @description With a claim: the payload as it came, which the worker did not bring. */
            payload?: Record<string, never> | null;
            /** @description With `granted`: the same owner had asked before. */
            repeated?: boolean | null;
            /**
             * Format: int64
             * @description With `busy`.
             */
            retry_after_ms?: number | null;
            run: components["schemas"]["RunView"];
        };
        /**
         * @description A reservation. `key` or `key_parts` (or the header `Idempotency-Key`), `payload` or `payload_hash`.
         * @example {
         *       "flow": "ticket-reply",
         *       "key": "ticket.reply:zendesk:comment_987:1",
         *       "lease_ms": 300000,
         *       "owner": "6c0f2d0e-6f0b-4f43-9d0f-0d6a3f0a9c11",
         *       "payload": {
         *         "customer": {
         *           "email": "a@example.test"
         *         }
         *       },
         *       "trigger": {
         *         "delivery_id": "d-77",
         *         "source": "zendesk"
         *       }
         *     }
         */
        ReserveRequest: {
            correlation_id?: string | null;
            execution?: components["schemas"]["Words"] | null;
            flow: string;
            /** @description 1 to 255 Unicode characters that name one event. */
            key?: string | null;
            key_parts?: components["schemas"]["PartsGiven"] | null;
            /**
             * Format: int64
             * @description Left out: the flow's default.
             */
            lease_ms?: number | null;
            /** @description Who works on it; one is made if it is left out. */
            owner?: string | null;
            /** @description Any JSON; kept and sent on as the text that came in. */
            payload?: Record<string, never> | null;
            /** @description `v1:sha256:` and 64 hex digits, instead of the payload. */
            payload_hash?: string | null;
            source_url?: string | null;
            trigger?: components["schemas"]["Words"] | null;
        };
        /**
         * @description A person's word on an effect whose outcome is not known.
         * @example {
         *       "fence": 1,
         *       "reason": "not in the outbox of the mail host",
         *       "then": "send_again",
         *       "verdict": "did_not_happen"
         *     }
         */
        ResolveRequest: {
            /** @description With `happened`: the provider's id. */
            external_id?: string | null;
            /**
             * Format: int64
             * @description The effect's fence as it was read. With it the same word twice is one act, and a word on an attempt that is not
             *     the last one any more does nothing.
             */
            fence?: number | null;
            reason?: string;
            then?: components["schemas"]["Then"] | null;
            verdict: components["schemas"]["Verdict"];
        };
        ResultView: {
            external_id?: string | null;
            provider: string;
            type: string;
        };
        ResumeAnswer: {
            approval: components["schemas"]["ApprovalView"];
        };
        /**
         * @description Where an execution waits.
         * @example {
         *       "execution": "4711",
         *       "url": "https://n8n.example.com/webhook-waiting/4711?signature=…"
         *     }
         */
        ResumeRequest: {
            /** @description Left out: the number in the address's path. */
            execution?: string | null;
            /** @description The id or name of the node that waits; a node that is called at an address of its own may be called again. */
            node?: string | null;
            /** @description Called by POST once the approval has ended. At an address that `[n8n]` allows; never shown again. */
            url: string;
        };
        /**
         * @description How far it is with telling a waiting execution.
         * @enum {string}
         */
        ResumeState: "waiting" | "queued" | "resumed" | "review" | "failed";
        /** @description A waiting execution. Its address is not shown: it gives the right to go on. */
        ResumeView: {
            execution: string;
            node?: string | null;
            /** @description The run whose effect is the call; there is none before the approval has ended. */
            run_id?: string | null;
            state: components["schemas"]["ResumeState"];
        };
        RunAnswer: {
            run: components["schemas"]["RunView"];
        };
        /** @description A page of runs, newest first. */
        RunList: {
            /** @description With `cursor=` the next page; null on the last one. */
            next_cursor?: string | null;
            runs: components["schemas"]["RunView"][];
        };
        /** @description A run as callers see it. */
        RunView: {
            approval?: components["schemas"]["ApprovalView"] | null;
            /** Format: int32 */
            attempts: number;
            /** Format: int32 */
            attempts_max: number;
            corrects?: string | null;
            correlation_id?: string | null;
            created_at: string;
            effects: components["schemas"]["EffectView"][];
            expires_at?: string | null;
            flow: string;
            flow_revision: string;
            id: string;
            key: string;
            next_attempt_at?: string | null;
            original?: components["schemas"]["OriginalView"] | null;
            payload_hash: string;
            reason?: string | null;
            result?: Record<string, never> | null;
            state: string;
            updated_at: string;
            /** Format: int64 */
            version: number;
        };
        /** @description The session as a program sees it. */
        SessionAnswer: {
            /** @description When it ends if it is not used; at the latest as long after the sign-in as the config says. */
            expires_at: string;
            roles: string[];
            subject: string;
            tenant: string;
            user: string;
        };
        /**
         * @example {
         *       "password": "…",
         *       "user": "anna"
         *     }
         */
        SessionRequest: {
            password: string;
            /** @description The house's own tenant without one. */
            tenant?: string | null;
            user: string;
        };
        SettleAnswer: components["schemas"]["Settled"] & {
            repeated: boolean;
        };
        /**
         * @example {
         *       "external_id": "N-1",
         *       "fence": 1,
         *       "outcome": "applied",
         *       "owner": "worker-1"
         *     }
         */
        SettleRequest: {
            external_id?: string | null;
            /** Format: int64 */
            fence: number;
            message?: string | null;
            /** @description `applied`, `refused`, `not_sent` or `unknown`. When in doubt: `unknown`. */
            outcome: string;
            owner: string;
        };
        /** @description The answer to `settle`. */
        Settled: {
            /** @description False: it was final before and the report changed nothing. */
            changed: boolean;
            effect: components["schemas"]["EffectView"];
        };
        /** @description How a run stands: events in, effects out. */
        Standing: {
            /** @description How many effects in which state. */
            effects: {
                [key: string]: number;
            };
            state: string;
            /** Format: int64 */
            version: number;
        };
        /**
         * @example {
         *       "events": [
         *         "approval.decided"
         *       ],
         *       "flow": null,
         *       "url": "https://n8n.example.com/webhook/2f8f1d0a/webhook"
         *     }
         */
        SubscribeRequest: {
            /**
             * @description `approval.requested`, `approval.decided`, `approval.expired`, `approval.withdrawn`, `run.completed`, `run.failed`,
             *     `run.quarantined`, `effect.completed`, `effect.failed`, `effect.review`.
             */
            events: string[];
            /** @description Only of this flow; left out, of every flow that the API key may touch. */
            flow?: string | null;
            /** @description Where events are sent, by POST. At a base of `[n8n]` and below its path. */
            url: string;
        };
        SubscriptionList: {
            data: components["schemas"]["SubscriptionView"][];
        };
        /** @description A subscription as its owner sees it. */
        SubscriptionView: {
            /** @description The public id of the API key it belongs to. */
            api_key: string;
            created_at: string;
            events: string[];
            /** @description The first failure since the last success. */
            failing_since?: string | null;
            /** @description Null: of every flow that the key may touch. */
            flow?: string | null;
            id: string;
            last_delivered_at?: string | null;
            url: string;
        };
        /** @description What a plan comes to, over all its runs. */
        Summary: {
            cost: components["schemas"]["Cost"];
            counts: components["schemas"]["Counts"];
            /** @description More runs match than the limit lets in; a further plan takes them. */
            more: boolean;
            /** @description Systems that the recovered runs would touch. */
            providers: components["schemas"]["ProviderTouched"][];
        };
        SwitchList: {
            receipt?: components["schemas"]["ReceiptView"] | null;
            switches: components["schemas"]["SwitchView"][];
        };
        /** @description One switch as it stands. What is not listed was never turned, and does not stop anything. */
        SwitchView: {
            at: string;
            by: string;
            enabled: boolean;
            name: string;
            reason: string;
            scope: string;
        };
        /** @enum {string} */
        Then: "send_again" | "cancel";
        /** @description What the provider said, and what it means. */
        Told: {
            at: string;
            /** @description How many were found, if more than one. */
            count?: number | null;
            detail?: string | null;
            external_id?: string | null;
            /**
             * @description `happened`, `happened_twice`, `too_early`, `not_there`, `proved_absent`, `under_way`, `no_information`, `agrees`
             *     or `contradicts`.
             */
            means: string;
            /** @description `found`, `found_many`, `absent`, `in_progress` or `no_information`. */
            said: string;
        };
        /** @description The answer to a call of a tool. */
        ToolAnswer: {
            answer: components["schemas"]["ToolWord"];
            approval_id?: string | null;
            /** @description The same at every call of one request. */
            correlation_id: string;
            /** @description From the moment at which it is decided on. */
            effect_id?: string | null;
            /** @description With `refused`: what is wrong with the arguments. Pointers from their root. */
            errors?: components["schemas"]["Vec"];
            /** @description For the model: what happened, and what to do now. */
            message: string;
            /** @description What was made: the provider's id; where it names none, the effect's. */
            result_id?: string | null;
            /** @description Absent where nothing was kept. */
            run_id?: string | null;
        };
        /** @description What the model wrote, letter by letter. */
        ToolArguments: Record<string, never>;
        /**
         * @description What came of a call.
         * @enum {string}
         */
        ToolWord: "succeeded" | "already_succeeded" | "awaiting_approval" | "accepted" | "unknown" | "refused";
        /**
         * @example {
         *       "enabled": false,
         *       "name": "crm",
         *       "reason": "wrong prices in the price list",
         *       "scope": "provider"
         *     }
         */
        TurnRequest: {
            enabled: boolean;
            /** @description What of that scope; left out for `all`. */
            name?: string;
            reason?: string;
            /** @description `all`, `tenant`, `flow`, `provider` or `effect_type`. */
            scope: string;
        };
        Vec: {
            keyword: string;
            message: string;
            pointer: string;
        }[];
        /** @enum {string} */
        Verdict: "recover" | "refused";
        VerifyAnswer: {
            broken: components["schemas"]["Broken"][];
            /** Format: int64 */
            chains: number;
            /** Format: int64 */
            entries: number;
            /** @description With `cursor=` the next chains; null when every chain was seen. */
            next_cursor?: string | null;
            /** @description True if no chain in this answer is broken. */
            verified: boolean;
        };
        WhoamiAnswer: {
            /** @description Flows an API key is restricted to; empty means all. */
            flows: string[];
            /** @description `api_key` or `person`. */
            kind: string;
            name: string;
            /** @description A person's roles and qualifications. */
            roles: string[];
            scopes: string[];
            tenant: string;
        };
        WithdrawAnswer: {
            repeated: boolean;
            run: components["schemas"]["RunView"];
        };
        WithdrawalView: {
            at: string;
            by: string;
            reason: string;
        };
        /** @description A flat object of words that goes into the journal: no nesting, no fractions, bounded. */
        Words: Record<string, never>;
        WorkerView: {
            last_tick_at: string;
            ok: boolean;
            worker: string;
        };
    };
    responses: never;
    parameters: never;
    requestBodies: never;
    headers: never;
    pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
    healthz: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Alive */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HealthAnswer"];
                };
            };
        };
    };
    accept: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The name of a source in the config */
                source: string;
            };
            cookie?: never;
        };
        /** @description The event; JSON for anything to be done with it */
        requestBody: {
            content: {
                "*/*": string;
            };
        };
        responses: {
            /** @description `duplicate`, `conflict` or `quarantined`: nothing to send again */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InAnswer"];
                };
            };
            /** @description `accepted`: kept as a run */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InAnswer"];
                };
            };
            /** @description A problem: `body_incomplete` */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `bad_signature`, `stale_signature` */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `unknown_source` */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `body_timeout` */
            408: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `body_too_large` */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `unsupported_media_type` */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `too_many_requests` */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `internal` */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `database_unavailable`, `commit_unknown` */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    serve_mcp: {
        parameters: {
            query?: {
                /**
                 * @description The key, percent-encoded, instead of the header `Idempotency-Key`: for keys that are not ASCII, and for clients
                 *     whose headers are fixed.
                 */
                key?: string;
                /** @description Instead of the header `Effectgate-Correlation-Id`. */
                correlation_id?: string;
                /** @description How long the call may wait for the outcome. Left out: `server.tool_wait_ms`. */
                wait_ms?: number;
            };
            header?: {
                /** @description The key, visible ASCII; or ?key= */
                "Idempotency-Key"?: string | null;
                /** @description As for a call over plain HTTP */
                "Effectgate-Correlation-Id"?: string | null;
            };
            path: {
                /** @description The flow whose effect types are tools */
                flow: string;
            };
            cookie?: never;
        };
        /** @description A JSON-RPC message */
        requestBody: {
            content: {
                "application/json": Record<string, never>;
            };
        };
        responses: {
            /** @description A JSON-RPC message */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": Record<string, never>;
                };
            };
            /** @description A notification, taken */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description A problem: `invalid_json`, `invalid_utf8`, `duplicate_member`, `lone_surrogate`, `number_out_of_range`, `too_deep`, `body_incomplete`, `unknown_member`, `missing_member`, `bad_member`, `bad_parameter` */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `unauthorized` */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `forbidden`, `cross_site` */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `not_found` */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `body_timeout` */
            408: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `body_too_large` */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `unsupported_media_type` */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `too_many_failures`, `too_many_requests` */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `internal` */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `database_unavailable`, `contended`, `commit_unknown` */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    send_out: {
        parameters: {
            query?: never;
            header: {
                /** @description Names the event: a structured-field string, or the same text bare */
                "Idempotency-Key": string;
            };
            path: {
                /** @description A provider whose section has `out` */
                provider: string;
                /** @description What follows the provider's URL, with the query */
                path: string;
            };
            cookie?: never;
        };
        /** @description Any body; it goes on byte for byte */
        requestBody: {
            content: {
                "*/*": string;
            };
        };
        responses: {
            /** @description `awaiting_approval`: a person decides first. `scheduled`: held back by its cancel window */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OutAccepted"];
                };
            };
            /** @description A problem: `missing_key`, `bad_key`, `bad_member`, `invalid_payload`, `body_incomplete` */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `unauthorized` */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `forbidden`, `cross_site`, `out_not_allowed` */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `no_out` */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `body_timeout` */
            408: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `in_flight`, `outcome_unknown`, `switch_off`, `budget_used_up`, `not_sent`, `no_answer`, `answer_erased` */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `body_too_large` */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `payload_conflict` */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `too_many_failures`, `too_many_requests` */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `internal` */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `database_unavailable`, `contended`, `commit_unknown` */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The provider's own answer: its status, content headers and body */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    readyz: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Ready */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ReadyAnswer"];
                };
            };
            /** @description Not ready, with the reasons */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ReadyAnswer"];
                };
            };
        };
    };
    find_approvals: {
        parameters: {
            query?: {
                state?: string;
                /** @description `next_cursor` of the page before. */
                cursor?: string;
                /** @description 1 to 200; 50 by default. */
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page; open ones by their expiry */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ApprovalList"];
                };
            };
            /** @description A problem: `bad_parameter` */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `unauthorized` */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `forbidden` */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `too_many_failures`, `too_many_requests` */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `internal` */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `database_unavailable` */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    get_approval: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The approval */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The approval as it is now */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ApprovalDetail"];
                };
            };
            /** @description A problem: `unauthorized` */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `forbidden` */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `not_found` */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `too_many_failures`, `too_many_requests` */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `internal` */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `database_unavailable` */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    decide: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The approval */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["DecideRequest"];
            };
        };
        responses: {
            /** @description Decided */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DecideAnswer"];
                };
            };
            /** @description A problem: `invalid_json`, `invalid_utf8`, `duplicate_member`, `lone_surrogate`, `number_out_of_range`, `too_deep`, `body_incomplete`, `unknown_member`, `missing_member`, `bad_member`, `nothing_changed`, `unknown_flow`, `reason_required`, `reason_too_long` */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `unauthorized` */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `forbidden`, `cross_site`, `cannot_decide`, `login_required`, `not_in_audience`, `not_qualified`, `separation_of_duties` */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `not_found` */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `body_timeout` */
            408: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `too_many_edits`, `approval_over`, `effects_changed`, `already_decided` */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `body_too_large` */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `unsupported_media_type` */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `invalid_edit` */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `too_many_failures`, `too_many_requests` */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `internal` */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `database_unavailable`, `contended`, `commit_unknown` */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    resume_approval: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The approval */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ResumeRequest"];
            };
        };
        responses: {
            /** @description The approval as it is now */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ResumeAnswer"];
                };
            };
            /** @description A problem: `invalid_json`, `invalid_utf8`, `duplicate_member`, `lone_surrogate`, `number_out_of_range`, `too_deep`, `body_incomplete`, `unknown_member`, `missing_member`, `bad_member` */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `unauthorized` */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `forbidden`, `cross_site` */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `not_found` */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `body_timeout` */
            408: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `body_too_large` */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `unsupported_media_type` */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `url_not_allowed` */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `too_many_failures`, `too_many_requests` */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `internal` */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `database_unavailable`, `contended`, `commit_unknown` */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    withdraw_approval: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The approval */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ReasonRequest"];
            };
        };
        responses: {
            /** @description Withdrawn */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WithdrawAnswer"];
                };
            };
            /** @description A problem: `invalid_json`, `invalid_utf8`, `duplicate_member`, `lone_surrogate`, `number_out_of_range`, `too_deep`, `body_incomplete`, `unknown_member`, `missing_member`, `bad_member`, `reason_required`, `reason_too_long` */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `unauthorized` */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `forbidden`, `cross_site` */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `not_found` */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `body_timeout` */
            408: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `wrong_state` */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `body_too_large` */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `unsupported_media_type` */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `too_many_failures`, `too_many_requests` */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `internal` */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `database_unavailable`, `contended`, `commit_unknown` */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    find_effects: {
        parameters: {
            query?: {
                /** @description One state, or several with commas: `unknown,review`. */
                state?: string;
                provider?: string;
                /** @description `next_cursor` of the page before. */
                cursor?: string;
                /** @description 1 to 200; 50 by default. */
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page, most recently changed first */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["EffectList"];
                };
            };
            /** @description A problem: `bad_parameter` */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `unauthorized` */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `forbidden` */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `too_many_failures`, `too_many_requests` */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `internal` */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `database_unavailable` */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    get_effect: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The effect */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The effect as it is now */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["EffectItem"];
                };
            };
            /** @description A problem: `unauthorized` */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `forbidden` */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `not_found` */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `too_many_failures`, `too_many_requests` */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `internal` */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `database_unavailable` */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    cancel_effect: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The effect */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ReasonRequest"];
            };
        };
        responses: {
            /** @description Cancelled */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RunAnswer"];
                };
            };
            /** @description A problem: `invalid_json`, `invalid_utf8`, `duplicate_member`, `lone_surrogate`, `number_out_of_range`, `too_deep`, `body_incomplete`, `unknown_member`, `missing_member`, `bad_member`, `reason_required`, `reason_too_long` */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `unauthorized` */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `forbidden`, `cross_site` */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `not_found` */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `body_timeout` */
            408: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `wrong_state` */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `body_too_large` */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `unsupported_media_type` */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `too_many_failures`, `too_many_requests` */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `internal` */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `database_unavailable`, `contended`, `commit_unknown` */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    look_effect: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The effect */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description What it said, or why nobody was asked */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["LookAnswer"];
                };
            };
            /** @description A problem: `unauthorized` */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `forbidden`, `cross_site` */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `not_found` */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `too_many_failures`, `too_many_requests` */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `internal` */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `database_unavailable`, `contended`, `commit_unknown` */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    resolve_effect: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The effect */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ResolveRequest"];
            };
        };
        responses: {
            /** @description Settled */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RunAnswer"];
                };
            };
            /** @description A problem: `invalid_json`, `invalid_utf8`, `duplicate_member`, `lone_surrogate`, `number_out_of_range`, `too_deep`, `body_incomplete`, `unknown_member`, `missing_member`, `bad_member`, `reason_required`, `reason_too_long` */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `unauthorized` */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `forbidden`, `cross_site` */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `not_found` */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `body_timeout` */
            408: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `wrong_state`, `key_poisoned` */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `body_too_large` */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `unsupported_media_type` */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `too_many_failures`, `too_many_requests` */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `internal` */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `database_unavailable`, `contended`, `commit_unknown` */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    settle_effect: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The effect */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SettleRequest"];
            };
        };
        responses: {
            /** @description Recorded; `changed: false` if it was final before */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SettleAnswer"];
                };
            };
            /** @description A problem: `invalid_json`, `invalid_utf8`, `duplicate_member`, `lone_surrogate`, `number_out_of_range`, `too_deep`, `body_incomplete`, `unknown_member`, `missing_member`, `bad_member` */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `unauthorized` */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `forbidden`, `cross_site` */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `not_found` */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `body_timeout` */
            408: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `lease_lost`, `effect_not_begun` */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `body_too_large` */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `unsupported_media_type` */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `too_many_failures`, `too_many_requests` */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `internal` */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `database_unavailable`, `contended`, `commit_unknown` */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    export_journal: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description One JSON object a line */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/x-ndjson": string;
                };
            };
            /** @description A problem: `unauthorized` */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `forbidden` */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `too_many_failures`, `too_many_requests` */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `internal` */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `database_unavailable` */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    verify_journal: {
        parameters: {
            query?: {
                /** @description `next_cursor` of the answer before. */
                cursor?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description What was found; at most 10000 chains in one answer */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["VerifyAnswer"];
                };
            };
            /** @description A problem: `bad_parameter` */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `unauthorized` */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `forbidden` */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `too_many_failures`, `too_many_requests` */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `internal` */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `database_unavailable` */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    list_replays: {
        parameters: {
            query?: {
                /** @description `next_cursor` of the page before. */
                cursor?: string;
                /** @description 1 to 200; 50 by default. */
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page, newest first */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ReplayList"];
                };
            };
            /** @description A problem: `bad_parameter` */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `unauthorized` */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `forbidden` */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `too_many_failures`, `too_many_requests` */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `internal` */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `database_unavailable` */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    plan_replay: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["PlanReplay"];
            };
        };
        responses: {
            /** @description The dry run's report */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ReplayView"];
                };
            };
            /** @description The plan */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ReplayView"];
                };
            };
            /** @description A problem: `invalid_json`, `invalid_utf8`, `duplicate_member`, `lone_surrogate`, `number_out_of_range`, `too_deep`, `body_incomplete`, `unknown_member`, `missing_member`, `bad_member`, `unknown_flow`, `reason_required`, `reason_too_long` */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `unauthorized` */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `forbidden`, `cross_site` */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `body_timeout` */
            408: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `body_too_large` */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `unsupported_media_type` */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `too_many_failures`, `too_many_requests` */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `internal` */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `database_unavailable`, `contended`, `commit_unknown` */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    get_replay: {
        parameters: {
            query?: {
                /** @description `false` leaves the keys out, for those who only watch the progress; `true` by default. */
                keys?: boolean;
            };
            header?: never;
            path: {
                /** @description The plan */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The plan as it stands */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ReplayView"];
                };
            };
            /** @description A problem: `bad_parameter` */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `unauthorized` */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `forbidden` */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `not_found` */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `too_many_failures`, `too_many_requests` */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `internal` */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `database_unavailable` */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    execute_replay: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The plan */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ExecuteReplay"];
            };
        };
        responses: {
            /** @description It has ended: the report */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ReplayView"];
                };
            };
            /** @description It runs: how far it is */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ReplayView"];
                };
            };
            /** @description A problem: `invalid_json`, `invalid_utf8`, `duplicate_member`, `lone_surrogate`, `number_out_of_range`, `too_deep`, `body_incomplete`, `unknown_member`, `missing_member`, `bad_member`, `reason_too_long` */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `unauthorized` */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `forbidden`, `cross_site` */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `not_found` */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `body_timeout` */
            408: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `replay_expired` */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `body_too_large` */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `unsupported_media_type` */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `too_many_failures`, `too_many_requests` */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `internal` */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `database_unavailable`, `contended`, `commit_unknown` */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    find_runs: {
        parameters: {
            query?: {
                flow?: string;
                /** @description The whole key, exactly. */
                key?: string;
                state?: string;
                /** @description Created at or after, RFC 3339. */
                since?: string;
                /** @description Created before, RFC 3339. */
                until?: string;
                /** @description `next_cursor` of the page before. */
                cursor?: string;
                /** @description 1 to 200; 50 by default. */
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page, newest first */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RunList"];
                };
            };
            /** @description A problem: `bad_parameter` */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `unauthorized` */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `forbidden` */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `too_many_failures`, `too_many_requests` */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `internal` */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `database_unavailable` */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    reserve: {
        parameters: {
            query?: never;
            header?: {
                /** @description The key, instead of the member `key` */
                "Idempotency-Key"?: string | null;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ReserveRequest"];
            };
        };
        responses: {
            /** @description Replay: it does not start again; the state is the answer */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ReserveAnswer"];
                };
            };
            /** @description Granted: the caller owns it now */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ReserveAnswer"];
                };
            };
            /** @description Busy: another owner's lease lives */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ReserveAnswer"];
                };
            };
            /** @description A problem: `invalid_json`, `invalid_utf8`, `duplicate_member`, `lone_surrogate`, `number_out_of_range`, `too_deep`, `body_incomplete`, `unknown_member`, `missing_member`, `bad_member`, `bad_key`, `bad_lease`, `unknown_flow`, `invalid_payload` */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `unauthorized` */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `forbidden`, `cross_site` */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `body_timeout` */
            408: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `body_too_large` */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `unsupported_media_type` */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `payload_conflict` */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `too_many_failures`, `too_many_requests` */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `internal` */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `database_unavailable`, `contended`, `commit_unknown` */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    reserve_batch: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["BatchRequest"];
            };
        };
        responses: {
            /** @description One answer each */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["BatchAnswer"];
                };
            };
            /** @description A problem: `invalid_json`, `invalid_utf8`, `duplicate_member`, `lone_surrogate`, `number_out_of_range`, `too_deep`, `body_incomplete`, `unknown_member`, `missing_member`, `bad_member` */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `unauthorized` */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `forbidden`, `cross_site` */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `body_timeout` */
            408: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `body_too_large` */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `unsupported_media_type` */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `too_many_failures`, `too_many_requests` */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `internal` */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `database_unavailable`, `contended`, `commit_unknown` */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    claim: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ClaimRequest"];
            };
        };
        responses: {
            /** @description Nothing is due */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["NoneAnswer"];
                };
            };
            /** @description Granted */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ReserveAnswer"];
                };
            };
            /** @description A problem: `invalid_json`, `invalid_utf8`, `duplicate_member`, `lone_surrogate`, `number_out_of_range`, `too_deep`, `body_incomplete`, `unknown_member`, `missing_member`, `bad_member`, `bad_lease`, `unknown_flow` */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `unauthorized` */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `forbidden`, `cross_site` */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `body_timeout` */
            408: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `body_too_large` */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `unsupported_media_type` */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `too_many_failures`, `too_many_requests` */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `internal` */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `database_unavailable`, `contended`, `commit_unknown` */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    get_run: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The run */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The run as it is now */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RunView"];
                };
            };
            /** @description A problem: `unauthorized` */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `forbidden` */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `not_found` */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `too_many_failures`, `too_many_requests` */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `internal` */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `database_unavailable` */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    close_run: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The run */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ReasonRequest"];
            };
        };
        responses: {
            /** @description Ended */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RunAnswer"];
                };
            };
            /** @description A problem: `invalid_json`, `invalid_utf8`, `duplicate_member`, `lone_surrogate`, `number_out_of_range`, `too_deep`, `body_incomplete`, `unknown_member`, `missing_member`, `bad_member`, `reason_required`, `reason_too_long` */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `unauthorized` */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `forbidden`, `cross_site` */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `not_found` */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `body_timeout` */
            408: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `wrong_state` */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `body_too_large` */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `unsupported_media_type` */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `too_many_failures`, `too_many_requests` */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `internal` */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `database_unavailable`, `contended`, `commit_unknown` */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    complete: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The run */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CompleteRequest"];
            };
        };
        responses: {
            /** @description Completed */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CompleteAnswer"];
                };
            };
            /** @description A problem: `invalid_json`, `invalid_utf8`, `duplicate_member`, `lone_surrogate`, `number_out_of_range`, `too_deep`, `body_incomplete`, `unknown_member`, `missing_member`, `bad_member` */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `unauthorized` */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `forbidden`, `cross_site` */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `not_found` */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `body_timeout` */
            408: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `lease_lost`, `effects_open` */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `body_too_large` */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `unsupported_media_type` */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `too_many_failures`, `too_many_requests` */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `internal` */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `database_unavailable`, `contended`, `commit_unknown` */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    correct_run: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The run to correct */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CorrectGiven"];
            };
        };
        responses: {
            /** @description Replay: asked for before; the state is the answer */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CorrectAnswer"];
                };
            };
            /** @description Queued */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CorrectAnswer"];
                };
            };
            /** @description A problem: `invalid_json`, `invalid_utf8`, `duplicate_member`, `lone_surrogate`, `number_out_of_range`, `too_deep`, `body_incomplete`, `unknown_member`, `missing_member`, `bad_member`, `bad_key`, `correction_key`, `invalid_payload`, `unknown_flow`, `reason_required`, `reason_too_long` */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `unauthorized` */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `forbidden`, `cross_site` */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `not_found` */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `body_timeout` */
            408: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `wrong_state` */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `body_too_large` */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `unsupported_media_type` */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `payload_conflict` */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `too_many_failures`, `too_many_requests` */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `internal` */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `database_unavailable`, `contended`, `commit_unknown` */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    list_corrections: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The run */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Its corrections, a hundred at most */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CorrectionList"];
                };
            };
            /** @description A problem: `unauthorized` */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `forbidden` */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `not_found` */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `too_many_failures`, `too_many_requests` */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `internal` */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `database_unavailable` */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    begin_effect: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The run */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["BeginRequest"];
            };
        };
        responses: {
            /** @description Begun before: what is known */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["BeginAnswer"];
                };
            };
            /** @description Begun: call the provider now */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["BeginAnswer"];
                };
            };
            /** @description A problem: `invalid_json`, `invalid_utf8`, `duplicate_member`, `lone_surrogate`, `number_out_of_range`, `too_deep`, `body_incomplete`, `unknown_member`, `missing_member`, `bad_member`, `invalid_payload`, `unknown_flow` */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `unauthorized` */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `forbidden`, `cross_site` */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `not_found` */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `body_timeout` */
            408: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `lease_lost`, `switch_off`, `budget_used_up` */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `body_too_large` */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `unsupported_media_type` */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `effect_differs` */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `too_many_failures`, `too_many_requests` */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `internal` */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `database_unavailable`, `contended`, `commit_unknown` */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    explain_run: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The run */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The story, with one reason code */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Explanation"];
                };
            };
            /** @description A problem: `unauthorized` */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `forbidden` */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `not_found` */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `too_many_failures`, `too_many_requests` */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `internal` */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `database_unavailable` */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    fail: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The run */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["FailRequest"];
            };
        };
        responses: {
            /** @description Noted, with what follows */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FailAnswer"];
                };
            };
            /** @description A problem: `invalid_json`, `invalid_utf8`, `duplicate_member`, `lone_surrogate`, `number_out_of_range`, `too_deep`, `body_incomplete`, `unknown_member`, `missing_member`, `bad_member`, `unknown_class`, `unknown_flow` */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `unauthorized` */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `forbidden`, `cross_site` */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `not_found` */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `body_timeout` */
            408: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `lease_lost`, `effects_open` */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `body_too_large` */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `unsupported_media_type` */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `too_many_failures`, `too_many_requests` */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `internal` */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `database_unavailable`, `contended`, `commit_unknown` */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    read_journal: {
        parameters: {
            query?: {
                /** @description Entries after this number. */
                after?: number;
                /** @description 1 to 200; 50 by default. */
                limit?: number;
            };
            header?: never;
            path: {
                /** @description The run */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page, oldest first */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["JournalPage"];
                };
            };
            /** @description A problem: `bad_parameter` */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `unauthorized` */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `forbidden` */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `not_found` */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `too_many_failures`, `too_many_requests` */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `internal` */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `database_unavailable` */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    propose: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The run */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ProposalRequest"];
            };
        };
        responses: {
            /** @description Queued, or waiting for people */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProposalAnswer"];
                };
            };
            /** @description A problem: `invalid_json`, `invalid_utf8`, `duplicate_member`, `lone_surrogate`, `number_out_of_range`, `too_deep`, `body_incomplete`, `unknown_member`, `missing_member`, `bad_member`, `unknown_flow` */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `unauthorized` */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `forbidden`, `cross_site` */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `not_found` */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `body_timeout` */
            408: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `lease_lost` */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `body_too_large` */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `unsupported_media_type` */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `invalid_output`, `url_not_allowed` */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `too_many_failures`, `too_many_requests` */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `internal` */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `database_unavailable`, `contended`, `commit_unknown` */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    release_run: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The run */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ReasonRequest"];
            };
        };
        responses: {
            /** @description Queued again */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RunAnswer"];
                };
            };
            /** @description A problem: `invalid_json`, `invalid_utf8`, `duplicate_member`, `lone_surrogate`, `number_out_of_range`, `too_deep`, `body_incomplete`, `unknown_member`, `missing_member`, `bad_member`, `reason_required`, `reason_too_long` */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `unauthorized` */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `forbidden`, `cross_site` */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `not_found` */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `body_timeout` */
            408: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `wrong_state` */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `body_too_large` */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `unsupported_media_type` */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `too_many_failures`, `too_many_requests` */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `internal` */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `database_unavailable`, `contended`, `commit_unknown` */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    renew: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The run */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["RenewRequest"];
            };
        };
        responses: {
            /** @description Prolonged */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RenewAnswer"];
                };
            };
            /** @description A problem: `invalid_json`, `invalid_utf8`, `duplicate_member`, `lone_surrogate`, `number_out_of_range`, `too_deep`, `body_incomplete`, `unknown_member`, `missing_member`, `bad_member`, `bad_lease`, `unknown_flow` */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `unauthorized` */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `forbidden`, `cross_site` */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `not_found` */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `body_timeout` */
            408: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `lease_lost` */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `body_too_large` */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `unsupported_media_type` */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `too_many_failures`, `too_many_requests` */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `internal` */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `database_unavailable`, `contended`, `commit_unknown` */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    sign_in: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SessionRequest"];
            };
        };
        responses: {
            /** @description Signed in; the cookie is the session */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SessionAnswer"];
                };
            };
            /** @description A problem: `invalid_json`, `invalid_utf8`, `duplicate_member`, `lone_surrogate`, `number_out_of_range`, `too_deep`, `body_incomplete`, `unknown_member`, `missing_member`, `bad_member` */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `unauthorized` */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `forbidden`, `cross_site`, `local_accounts_off` */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `body_timeout` */
            408: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `body_too_large` */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `unsupported_media_type` */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `too_many_failures`, `too_many_requests` */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `internal` */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `database_unavailable`, `contended`, `commit_unknown` */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    sign_out: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Signed out */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description A problem: `unauthorized` */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `forbidden`, `cross_site` */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `too_many_failures`, `too_many_requests` */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `internal` */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `database_unavailable`, `contended`, `commit_unknown` */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    list_subscriptions: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The first made first */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SubscriptionList"];
                };
            };
            /** @description A problem: `unauthorized` */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `forbidden` */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `too_many_failures`, `too_many_requests` */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `internal` */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `database_unavailable` */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    subscribe: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SubscribeRequest"];
            };
        };
        responses: {
            /** @description Registered before: the same subscription, with these events */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SubscriptionView"];
                };
            };
            /** @description Registered */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SubscriptionView"];
                };
            };
            /** @description A problem: `invalid_json`, `invalid_utf8`, `duplicate_member`, `lone_surrogate`, `number_out_of_range`, `too_deep`, `body_incomplete`, `unknown_member`, `missing_member`, `bad_member`, `unknown_flow` */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `unauthorized` */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `forbidden`, `cross_site` */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `body_timeout` */
            408: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `body_too_large` */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `unsupported_media_type` */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `url_not_allowed` */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `too_many_failures`, `too_many_requests` */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `internal` */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `database_unavailable`, `contended`, `commit_unknown` */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    unsubscribe: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The subscription (sub_…) */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Dropped, or gone before */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description A problem: `unauthorized` */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `forbidden`, `cross_site` */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `not_found` */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `too_many_failures`, `too_many_requests` */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `internal` */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `database_unavailable`, `contended`, `commit_unknown` */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    list_switches: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Every switch that was ever turned, and the ceiling */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SwitchList"];
                };
            };
            /** @description A problem: `unauthorized` */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `forbidden` */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `too_many_failures`, `too_many_requests` */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `internal` */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `database_unavailable` */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    turn_switch: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["TurnRequest"];
            };
        };
        responses: {
            /** @description Turned, with a receipt */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SwitchList"];
                };
            };
            /** @description A problem: `invalid_json`, `invalid_utf8`, `duplicate_member`, `lone_surrogate`, `number_out_of_range`, `too_deep`, `body_incomplete`, `unknown_member`, `missing_member`, `bad_member`, `reason_required`, `reason_too_long` */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `unauthorized` */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `forbidden`, `cross_site` */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `body_timeout` */
            408: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `body_too_large` */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `unsupported_media_type` */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `too_many_failures`, `too_many_requests` */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `internal` */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `database_unavailable`, `contended`, `commit_unknown` */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    drill_switch: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["DrillRequest"];
            };
        };
        responses: {
            /** @description What it would hold */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Drill"];
                };
            };
            /** @description A problem: `invalid_json`, `invalid_utf8`, `duplicate_member`, `lone_surrogate`, `number_out_of_range`, `too_deep`, `body_incomplete`, `unknown_member`, `missing_member`, `bad_member` */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `unauthorized` */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `forbidden`, `cross_site` */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `body_timeout` */
            408: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `body_too_large` */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `unsupported_media_type` */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `too_many_failures`, `too_many_requests` */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `internal` */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `database_unavailable`, `contended`, `commit_unknown` */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    call_tool: {
        parameters: {
            query?: {
                /**
                 * @description The key, percent-encoded, instead of the header `Idempotency-Key`: for keys that are not ASCII, and for clients
                 *     whose headers are fixed.
                 */
                key?: string;
                /** @description Instead of the header `Effectgate-Correlation-Id`. */
                correlation_id?: string;
                /** @description How long the call may wait for the outcome. Left out: `server.tool_wait_ms`. */
                wait_ms?: number;
            };
            header?: {
                /** @description The key, visible ASCII; or ?key= */
                "Idempotency-Key"?: string | null;
                /** @description Given back at every call of the request; left out: the run's id */
                "Effectgate-Correlation-Id"?: string | null;
            };
            path: {
                /** @description The flow whose effect types are tools */
                flow: string;
                /** @description The tool */
                effect_type: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ToolArguments"];
            };
        };
        responses: {
            /** @description What came of it, in words for an agent */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ToolAnswer"];
                };
            };
            /** @description A problem: `invalid_json`, `invalid_utf8`, `duplicate_member`, `lone_surrogate`, `number_out_of_range`, `too_deep`, `body_incomplete`, `unknown_member`, `missing_member`, `bad_member`, `bad_parameter`, `missing_key`, `bad_key` */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `unauthorized` */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `forbidden`, `cross_site` */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `not_found` */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `body_timeout` */
            408: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `body_too_large` */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `unsupported_media_type` */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `too_many_failures`, `too_many_requests` */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `internal` */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `database_unavailable`, `contended`, `commit_unknown` */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    whoami: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The caller as the server knows it */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WhoamiAnswer"];
                };
            };
            /** @description A problem: `unauthorized` */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `forbidden` */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `too_many_failures`, `too_many_requests` */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `internal` */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A problem: `database_unavailable` */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
}
