// Original file: proto/contextd/v1/management.proto

import type { Long } from '@grpc/proto-loader';

export interface AcceptQuarantinedRequest {
  'root'?: (string);
  'which'?: (string);
  /**
   * The hash of the content that was shown. Content that has changed since is refused.
   */
  'sha256'?: (string);
}

export interface AcceptQuarantinedRequest__Output {
  'root': (string);
  'which': (string);
  /**
   * The hash of the content that was shown. Content that has changed since is refused.
   */
  'sha256': (string);
}

export interface AcceptToolRequest {
  'root'?: (string);
  /**
   * Of the plan that the person saw.
   */
  'bundle_sha256'?: (string);
  /**
   * True if no person was asked: grants above `install.yes_grants` are then refused.
   */
  'unattended'?: (boolean);
}

export interface AcceptToolRequest__Output {
  'root': (string);
  /**
   * Of the plan that the person saw.
   */
  'bundle_sha256': (string);
  /**
   * True if no person was asked: grants above `install.yes_grants` are then refused.
   */
  'unattended': (boolean);
}

export interface AcceptedContent {
  'path'?: (string);
  'sha256'?: (string);
  /**
   * Milliseconds since the epoch.
   */
  'accepted_ms'?: (number | string);
}

export interface AcceptedContent__Output {
  'path': (string);
  'sha256': (string);
  /**
   * Milliseconds since the epoch.
   */
  'accepted_ms': (number);
}

export interface AddedMemories {
  /**
   * In the order of the request.
   */
  'results'?: (AddedMemory)[];
}

export interface AddedMemories__Output {
  /**
   * In the order of the request.
   */
  'results': (AddedMemory__Output)[];
}

export interface AddedMemory {
  /**
   * stored, merged (another memory says nearly the same), unchanged (the same words are there), or refused.
   */
  'state'?: (string);
  /**
   * The memory that holds it; empty for an import and if it was refused.
   */
  'id'?: (string);
  'contradicts'?: (string)[];
  /**
   * Why it was refused.
   */
  'fault'?: (string);
}

export interface AddedMemory__Output {
  /**
   * stored, merged (another memory says nearly the same), unchanged (the same words are there), or refused.
   */
  'state': (string);
  /**
   * The memory that holds it; empty for an import and if it was refused.
   */
  'id': (string);
  'contradicts': (string)[];
  /**
   * Why it was refused.
   */
  'fault': (string);
}

export interface AllowValueRequest {
  /**
   * The secret of a session that is no secret. Its root is the project.
   */
  'secret'?: (SecretRequest | null);
  /**
   * The value itself, if the secret has no token.
   */
  'value'?: (string);
  /**
   * True: in every project.
   */
  'everywhere'?: (boolean);
  /**
   * The account that allows it.
   */
  'by'?: (string);
}

export interface AllowValueRequest__Output {
  /**
   * The secret of a session that is no secret. Its root is the project.
   */
  'secret': (SecretRequest__Output | null);
  /**
   * The value itself, if the secret has no token.
   */
  'value': (string);
  /**
   * True: in every project.
   */
  'everywhere': (boolean);
  /**
   * The account that allows it.
   */
  'by': (string);
}

export interface AllowedValue {
  /**
   * Hexadecimal.
   */
  'id'?: (string);
  /**
   * Project root. Empty: every project.
   */
  'root'?: (string);
  /**
   * The rule that had found it. Empty if it was given as a value.
   */
  'rule'?: (string);
  /**
   * Milliseconds since the epoch.
   */
  'allowed_ms'?: (number | string | Long);
  'by'?: (string);
}

export interface AllowedValue__Output {
  /**
   * Hexadecimal.
   */
  'id': (string);
  /**
   * Project root. Empty: every project.
   */
  'root': (string);
  /**
   * The rule that had found it. Empty if it was given as a value.
   */
  'rule': (string);
  /**
   * Milliseconds since the epoch.
   */
  'allowed_ms': (number);
  'by': (string);
}

export interface AllowedValues {
  /**
   * Those of the project, then those of every project; oldest first.
   */
  'values'?: (AllowedValue)[];
  /**
   * What the request added or removed.
   */
  'changed'?: (AllowedValue)[];
  /**
   * The session whose token was allowed. Empty if none was named.
   */
  'session'?: (string);
}

export interface AllowedValues__Output {
  /**
   * Those of the project, then those of every project; oldest first.
   */
  'values': (AllowedValue__Output)[];
  /**
   * What the request added or removed.
   */
  'changed': (AllowedValue__Output)[];
  /**
   * The session whose token was allowed. Empty if none was named.
   */
  'session': (string);
}

export interface AnsweredApproval {
  'rule'?: (ApprovalRuleInfo | null);
  /**
   * Project root.
   */
  'project'?: (string);
  /**
   * Waiting calls that the answer settled.
   */
  'calls'?: (number);
  /**
   * Milliseconds since the epoch. 0: nothing is kept, or it holds without an end.
   */
  'expires_ms'?: (number | string);
}

export interface AnsweredApproval__Output {
  'rule': (ApprovalRuleInfo__Output | null);
  /**
   * Project root.
   */
  'project': (string);
  /**
   * Waiting calls that the answer settled.
   */
  'calls': (number);
  /**
   * Milliseconds since the epoch. 0: nothing is kept, or it holds without an end.
   */
  'expires_ms': (number);
}

export interface ApprovalAnswer {
  /**
   * Project root. Empty for a question: whichever project it is of. Required for a rule.
   */
  'root'?: (string);
  /**
   * Of a question (ask_…), or of a rule (rule_…).
   */
  'id'?: (string);
  /**
   * once (not for a rule), for, always or never.
   */
  'answer'?: (string);
  /**
   * Milliseconds, for the answer `for`. Otherwise 0.
   */
  'for_ms'?: (number | string);
  /**
   * The account of the person.
   */
  'by'?: (string);
  /**
   * Identical calls that the person was shown: `once` covers no more of them, in the order in which they asked; the others ask again. 0: one.
   */
  'calls'?: (number);
}

export interface ApprovalAnswer__Output {
  /**
   * Project root. Empty for a question: whichever project it is of. Required for a rule.
   */
  'root': (string);
  /**
   * Of a question (ask_…), or of a rule (rule_…).
   */
  'id': (string);
  /**
   * once (not for a rule), for, always or never.
   */
  'answer': (string);
  /**
   * Milliseconds, for the answer `for`. Otherwise 0.
   */
  'for_ms': (number);
  /**
   * The account of the person.
   */
  'by': (string);
  /**
   * Identical calls that the person was shown: `once` covers no more of them, in the order in which they asked; the others ask again. 0: one.
   */
  'calls': (number);
}

export interface ApprovalAnswerList {
  /**
   * Oldest first. Of a removal: what was removed.
   */
  'answers'?: (KeptApproval)[];
}

export interface ApprovalAnswerList__Output {
  /**
   * Oldest first. Of a removal: what was removed.
   */
  'answers': (KeptApproval__Output)[];
}

export interface ApprovalList {
  /**
   * Oldest first.
   */
  'items'?: (WaitingApproval)[];
}

export interface ApprovalList__Output {
  /**
   * Oldest first.
   */
  'items': (WaitingApproval__Output)[];
}

export interface ApprovalRequest {
  /**
   * Project root. Empty: every project.
   */
  'root'?: (string);
  /**
   * Of a waiting question (ask_…), a kept answer (ans_…) or a rule (rule_…). To list: only this one; empty: all.
   */
  'id'?: (string);
}

export interface ApprovalRequest__Output {
  /**
   * Project root. Empty: every project.
   */
  'root': (string);
  /**
   * Of a waiting question (ask_…), a kept answer (ans_…) or a rule (rule_…). To list: only this one; empty: all.
   */
  'id': (string);
}

export interface ApprovalRuleInfo {
  'id'?: (string);
  /**
   * Project root. Empty: every project.
   */
  'root'?: (string);
  'tool'?: (string);
  'when'?: (string);
  'reason'?: (string);
  /**
   * Milliseconds since the epoch.
   */
  'given_ms'?: (number | string);
  'by'?: (string);
  /**
   * Installed tools that the rule covers now.
   */
  'tools'?: (string)[];
}

export interface ApprovalRuleInfo__Output {
  'id': (string);
  /**
   * Project root. Empty: every project.
   */
  'root': (string);
  'tool': (string);
  'when': (string);
  'reason': (string);
  /**
   * Milliseconds since the epoch.
   */
  'given_ms': (number);
  'by': (string);
  /**
   * Installed tools that the rule covers now.
   */
  'tools': (string)[];
}

export interface ApprovalRuleList {
  /**
   * Oldest first. Of an addition or a removal: the rule that was added or removed.
   */
  'rules'?: (ApprovalRuleInfo)[];
}

export interface ApprovalRuleList__Output {
  /**
   * Oldest first. Of an addition or a removal: the rule that was added or removed.
   */
  'rules': (ApprovalRuleInfo__Output)[];
}

export interface ApproveRulesRequest {
  'root'?: (string);
  /**
   * The hash of the reviewed bytes. A file that has changed since is refused.
   */
  'sha256'?: (string);
}

export interface ApproveRulesRequest__Output {
  'root': (string);
  /**
   * The hash of the reviewed bytes. A file that has changed since is refused.
   */
  'sha256': (string);
}

export interface AuditRequest {
  /**
   * The number of newest records; 0 means 20. At most 1000.
   */
  'limit'?: (number);
  /**
   * Empty means all projects.
   */
  'project_root'?: (string);
}

export interface AuditRequest__Output {
  /**
   * The number of newest records; 0 means 20. At most 1000.
   */
  'limit': (number);
  /**
   * Empty means all projects.
   */
  'project_root': (string);
}

export interface AuditResponse {
  /**
   * One JSON object per record, as stored, oldest first.
   */
  'records_json'?: (string)[];
  /**
   * Lines that were read and are neither a record nor a line about segments.
   */
  'unreadable'?: (number | string | Long);
}

export interface AuditResponse__Output {
  /**
   * One JSON object per record, as stored, oldest first.
   */
  'records_json': (string)[];
  /**
   * Lines that were read and are neither a record nor a line about segments.
   */
  'unreadable': (number);
}

export interface AuditSegment {
  'name'?: (string);
  /**
   * How much of it belongs to the copy.
   */
  'bytes'?: (number | string | Long);
}

export interface AuditSegment__Output {
  'name': (string);
  /**
   * How much of it belongs to the copy.
   */
  'bytes': (number);
}

export interface BadLink {
  'path'?: (string);
  /**
   * What is there instead.
   */
  'found'?: (string);
}

export interface BadLink__Output {
  'path': (string);
  /**
   * What is there instead.
   */
  'found': (string);
}

export interface BranchFile {
  'path'?: (string);
  'why'?: (string);
}

export interface BranchFile__Output {
  'path': (string);
  'why': (string);
}

export interface BranchFilesPlan {
  'branch'?: (string);
  /**
   * As in BranchInfo.
   */
  'state'?: (string);
  /**
   * "A path", "M path" or "D path", in the order of the paths.
   */
  'changes'?: (string)[];
  /**
   * Nothing is merged if there is any.
   */
  'conflicts'?: (BranchFile)[];
  /**
   * Never merged.
   */
  'skipped'?: (BranchFile)[];
  /**
   * Commits that stay behind: id and subject.
   */
  'commits'?: (string)[];
  'patch'?: (string);
  /**
   * Files that found no room in the patch.
   */
  'patch_left'?: (number);
  /**
   * By which a merge can be undone; empty in a plan, and if nothing was changed in the project.
   */
  'undone_by'?: (string);
}

export interface BranchFilesPlan__Output {
  'branch': (string);
  /**
   * As in BranchInfo.
   */
  'state': (string);
  /**
   * "A path", "M path" or "D path", in the order of the paths.
   */
  'changes': (string)[];
  /**
   * Nothing is merged if there is any.
   */
  'conflicts': (BranchFile__Output)[];
  /**
   * Never merged.
   */
  'skipped': (BranchFile__Output)[];
  /**
   * Commits that stay behind: id and subject.
   */
  'commits': (string)[];
  'patch': (string);
  /**
   * Files that found no room in the patch.
   */
  'patch_left': (number);
  /**
   * By which a merge can be undone; empty in a plan, and if nothing was changed in the project.
   */
  'undone_by': (string);
}

export interface BranchFilesRequest {
  /**
   * Project root.
   */
  'root'?: (string);
  'branch'?: (string);
  /**
   * Discards the files instead of merging them.
   */
  'discard'?: (boolean);
  /**
   * Paths, relative to the project, that speak for all below them: the project's version, the branch's, or both as text.
   */
  'keep_base'?: (string)[];
  'take_branch'?: (string)[];
  'merge_text'?: (string)[];
  /**
   * With the differences of texts.
   */
  'patch'?: (boolean);
}

export interface BranchFilesRequest__Output {
  /**
   * Project root.
   */
  'root': (string);
  'branch': (string);
  /**
   * Discards the files instead of merging them.
   */
  'discard': (boolean);
  /**
   * Paths, relative to the project, that speak for all below them: the project's version, the branch's, or both as text.
   */
  'keep_base': (string)[];
  'take_branch': (string)[];
  'merge_text': (string)[];
  /**
   * With the differences of texts.
   */
  'patch': (boolean);
}

/**
 * A branch of a session. Its texts are masked.
 */
export interface BranchInfo {
  'id'?: (string);
  'session'?: (string);
  /**
   * The branch in which it was opened; empty: the base of the session.
   */
  'parent'?: (string);
  'description'?: (string);
  /**
   * "open", or what closed it: "return", "parent", "session" or "timeout".
   */
  'state'?: (string);
  /**
   * What its answers cost, of what they may cost.
   */
  'tokens'?: (number);
  'budget_tokens'?: (number);
  'calls'?: (number);
  /**
   * Milliseconds since the epoch; closed_ms is 0 for an open one.
   */
  'opened_ms'?: (number | string);
  'closed_ms'?: (number | string);
  'timeout_ms'?: (number | string);
  /**
   * Of a branch with files of its own: "open", "merging", "merged" or "discarded". Empty: it has none.
   */
  'files'?: (string);
}

/**
 * A branch of a session. Its texts are masked.
 */
export interface BranchInfo__Output {
  'id': (string);
  'session': (string);
  /**
   * The branch in which it was opened; empty: the base of the session.
   */
  'parent': (string);
  'description': (string);
  /**
   * "open", or what closed it: "return", "parent", "session" or "timeout".
   */
  'state': (string);
  /**
   * What its answers cost, of what they may cost.
   */
  'tokens': (number);
  'budget_tokens': (number);
  'calls': (number);
  /**
   * Milliseconds since the epoch; closed_ms is 0 for an open one.
   */
  'opened_ms': (number);
  'closed_ms': (number);
  'timeout_ms': (number);
  /**
   * Of a branch with files of its own: "open", "merging", "merged" or "discarded". Empty: it has none.
   */
  'files': (string);
}

export interface BranchList {
  'branches'?: (BranchInfo)[];
}

export interface BranchList__Output {
  'branches': (BranchInfo__Output)[];
}

export interface CachesRequest {
  /**
   * Project root; empty means all projects.
   */
  'project_root'?: (string);
}

export interface CachesRequest__Output {
  /**
   * Project root; empty means all projects.
   */
  'project_root': (string);
}

export interface CachesResponse {
  /**
   * The largest first.
   */
  'caches'?: (ProjectCaches)[];
}

export interface CachesResponse__Output {
  /**
   * The largest first.
   */
  'caches': (ProjectCaches__Output)[];
}

export interface CatalogueResponse {
  /**
   * Each a tool as a line of `ctxd route search --catalog`, with "details" and "sideEffects".
   */
  'items_json'?: (string)[];
  /**
   * Tools that were executed after a search, oldest first.
   */
  'choices'?: (ToolChoice)[];
  /**
   * How much a word says at most about a tool that was executed after it, from 0 to 1.
   */
  'learned_most'?: (number | string);
}

export interface CatalogueResponse__Output {
  /**
   * Each a tool as a line of `ctxd route search --catalog`, with "details" and "sideEffects".
   */
  'items_json': (string)[];
  /**
   * Tools that were executed after a search, oldest first.
   */
  'choices': (ToolChoice__Output)[];
  /**
   * How much a word says at most about a tool that was executed after it, from 0 to 1.
   */
  'learned_most': (number);
}

export interface CheckpointItem {
  'id'?: (string);
  'session'?: (string);
  /**
   * Empty: the base of the session.
   */
  'branch'?: (string);
  'name'?: (string);
  /**
   * asked, compaction, restore or import.
   */
  'cause'?: (string);
  /**
   * The last event that it covers; 0 if it was imported.
   */
  'position'?: (number);
  /**
   * Milliseconds since the epoch.
   */
  'created_ms'?: (number | string);
  /**
   * One line. Empty in CheckpointText.
   */
  'summary'?: (string);
}

export interface CheckpointItem__Output {
  'id': (string);
  'session': (string);
  /**
   * Empty: the base of the session.
   */
  'branch': (string);
  'name': (string);
  /**
   * asked, compaction, restore or import.
   */
  'cause': (string);
  /**
   * The last event that it covers; 0 if it was imported.
   */
  'position': (number);
  /**
   * Milliseconds since the epoch.
   */
  'created_ms': (number);
  /**
   * One line. Empty in CheckpointText.
   */
  'summary': (string);
}

export interface CheckpointList {
  'checkpoints'?: (CheckpointItem)[];
}

export interface CheckpointList__Output {
  'checkpoints': (CheckpointItem__Output)[];
}

export interface CheckpointRequest {
  /**
   * Project root.
   */
  'root'?: (string);
  /**
   * Only those of this session; empty: of every session. For a list only.
   */
  'session'?: (string);
  /**
   * Of the checkpoint. Not for a list.
   */
  'id'?: (string);
  /**
   * summary, context or full; empty: context. To read one only.
   */
  'level'?: (string);
  /**
   * report: how the files of the project differ; apply: puts them back. Empty: neither. To read one only.
   */
  'files'?: (string);
}

export interface CheckpointRequest__Output {
  /**
   * Project root.
   */
  'root': (string);
  /**
   * Only those of this session; empty: of every session. For a list only.
   */
  'session': (string);
  /**
   * Of the checkpoint. Not for a list.
   */
  'id': (string);
  /**
   * summary, context or full; empty: context. To read one only.
   */
  'level': (string);
  /**
   * report: how the files of the project differ; apply: puts them back. Empty: neither. To read one only.
   */
  'files': (string);
}

export interface CheckpointText {
  'checkpoint'?: (CheckpointItem | null);
  'text'?: (string);
  /**
   * If files were put back: the checkpoint that was saved before, and what takes it back. Otherwise empty.
   */
  'saved_first'?: (string);
  'undone_by'?: (string);
}

export interface CheckpointText__Output {
  'checkpoint': (CheckpointItem__Output | null);
  'text': (string);
  /**
   * If files were put back: the checkpoint that was saved before, and what takes it back. Otherwise empty.
   */
  'saved_first': (string);
  'undone_by': (string);
}

export interface CopyStateRequest {
  /**
   * Where the backup will be, for the record.
   */
  'file'?: (string);
}

export interface CopyStateRequest__Output {
  /**
   * Where the backup will be, for the record.
   */
  'file': (string);
}

export interface DisallowValueRequest {
  /**
   * Project root.
   */
  'root'?: (string);
  /**
   * The id, or the beginning of one.
   */
  'id'?: (string);
}

export interface DisallowValueRequest__Output {
  /**
   * Project root.
   */
  'root': (string);
  /**
   * The id, or the beginning of one.
   */
  'id': (string);
}

export interface EndSessionResponse {
  'root'?: (string);
  'session'?: (string);
  /**
   * False if there was no such session.
   */
  'ended'?: (boolean);
}

export interface EndSessionResponse__Output {
  'root': (string);
  'session': (string);
  /**
   * False if there was no such session.
   */
  'ended': (boolean);
}

export interface HandedIn {
  /**
   * user or agent (a message), todo (a whole to-do list), task (one entry of one) or edit (a path).
   */
  'role'?: (string);
  'text'?: (string);
}

export interface HandedIn__Output {
  /**
   * user or agent (a message), todo (a whole to-do list), task (one entry of one) or edit (a path).
   */
  'role': (string);
  'text': (string);
}

export interface HealthCheck {
  'name'?: (string);
  /**
   * "ok", "warn" or "fail".
   */
  'status'?: (string);
  'detail'?: (string);
  /**
   * How to fix it; empty if ok.
   */
  'remedy'?: (string);
}

export interface HealthCheck__Output {
  'name': (string);
  /**
   * "ok", "warn" or "fail".
   */
  'status': (string);
  'detail': (string);
  /**
   * How to fix it; empty if ok.
   */
  'remedy': (string);
}

export interface HealthRequest {
  /**
   * Empty means the isolation of the machine; otherwise the isolation of this project's calls.
   */
  'project_root'?: (string);
}

export interface HealthRequest__Output {
  /**
   * Empty means the isolation of the machine; otherwise the isolation of this project's calls.
   */
  'project_root': (string);
}

export interface HealthResponse {
  'checks'?: (HealthCheck)[];
}

export interface HealthResponse__Output {
  'checks': (HealthCheck__Output)[];
}

export interface HookAnswer {
  /**
   * What the client shows its model. May be empty.
   */
  'text'?: (string);
  /**
   * Events that were recorded. An item that repeats the last one of its role is not.
   */
  'recorded'?: (number);
  /**
   * Tokens that an answer of session_init, shown after the text, may have. 0: it is not to be shown.
   */
  'warm_start_tokens'?: (number);
}

export interface HookAnswer__Output {
  /**
   * What the client shows its model. May be empty.
   */
  'text': (string);
  /**
   * Events that were recorded. An item that repeats the last one of its role is not.
   */
  'recorded': (number);
  /**
   * Tokens that an answer of session_init, shown after the text, may have. 0: it is not to be shown.
   */
  'warm_start_tokens': (number);
}

export interface HookReport {
  /**
   * Project root.
   */
  'root'?: (string);
  /**
   * As the client names it. Empty means the session that a call without a name gets.
   */
  'session'?: (string);
  /**
   * session-start, pre-compact, stop or post-tool.
   */
  'hook'?: (string);
  /**
   * Why it happened, as the client says it, such as auto. May be empty.
   */
  'cause'?: (string);
  'items'?: (HandedIn)[];
}

export interface HookReport__Output {
  /**
   * Project root.
   */
  'root': (string);
  /**
   * As the client names it. Empty means the session that a call without a name gets.
   */
  'session': (string);
  /**
   * session-start, pre-compact, stop or post-tool.
   */
  'hook': (string);
  /**
   * Why it happened, as the client says it, such as auto. May be empty.
   */
  'cause': (string);
  'items': (HandedIn__Output)[];
}

/**
 * What commands have of the host's network clients. None of it is secret.
 */
export interface HostNetwork {
  /**
   * PEM: certificates that are trusted besides those of the system.
   */
  'certificates'?: (string)[];
  /**
   * Names of the variables for certificates that the person has set.
   */
  'ca_variables'?: (string)[];
  'registries'?: (RegistrySetting)[];
  /**
   * Addresses that are not public and to which hosts of registries lead.
   */
  'private_hosts'?: (PrivateHost)[];
}

/**
 * What commands have of the host's network clients. None of it is secret.
 */
export interface HostNetwork__Output {
  /**
   * PEM: certificates that are trusted besides those of the system.
   */
  'certificates': (string)[];
  /**
   * Names of the variables for certificates that the person has set.
   */
  'ca_variables': (string)[];
  'registries': (RegistrySetting__Output)[];
  /**
   * Addresses that are not public and to which hosts of registries lead.
   */
  'private_hosts': (PrivateHost__Output)[];
}

export interface HostNetworkRequest {
}

export interface HostNetworkRequest__Output {
}

export interface HttpChallenge {
  /**
   * 32 to 128 hexadecimal digits; empty asks for no proof.
   */
  'nonce'?: (string);
}

export interface HttpChallenge__Output {
  /**
   * 32 to 128 hexadecimal digits; empty asks for no proof.
   */
  'nonce': (string);
}

export interface HttpStanding {
  /**
   * What the setting http.enabled was when the daemon started.
   */
  'enabled'?: (boolean);
  /**
   * Such as http://127.0.0.1:41873; empty if nothing listens.
   */
  'url'?: (string);
  /**
   * Why nothing listens, and what to do; empty if it does.
   */
  'why'?: (string);
  'remedy'?: (string);
  /**
   * SHA-256 of the certificate, hexadecimal; empty without TLS.
   */
  'certificate_sha256'?: (string);
  /**
   * What GET /v1/proof answers for the nonce, hexadecimal.
   */
  'proof'?: (string);
}

export interface HttpStanding__Output {
  /**
   * What the setting http.enabled was when the daemon started.
   */
  'enabled': (boolean);
  /**
   * Such as http://127.0.0.1:41873; empty if nothing listens.
   */
  'url': (string);
  /**
   * Why nothing listens, and what to do; empty if it does.
   */
  'why': (string);
  'remedy': (string);
  /**
   * SHA-256 of the certificate, hexadecimal; empty without TLS.
   */
  'certificate_sha256': (string);
  /**
   * What GET /v1/proof answers for the nonce, hexadecimal.
   */
  'proof': (string);
}

export interface HttpToken {
  'name'?: (string);
  'root'?: (string);
  'permissions'?: (string)[];
  'made_ms'?: (number | string | Long);
  'expires_ms'?: (number | string | Long);
  /**
   * Names the token in GET /v1/proof: the first digits of its SHA-256.
   */
  'id'?: (string);
}

export interface HttpToken__Output {
  'name': (string);
  'root': (string);
  'permissions': (string)[];
  'made_ms': (number);
  'expires_ms': (number);
  /**
   * Names the token in GET /v1/proof: the first digits of its SHA-256.
   */
  'id': (string);
}

export interface HttpTokenList {
  'tokens'?: (HttpToken)[];
}

export interface HttpTokenList__Output {
  'tokens': (HttpToken__Output)[];
}

export interface HttpTokenRequest {
  /**
   * Empty means "default".
   */
  'name'?: (string);
}

export interface HttpTokenRequest__Output {
  /**
   * Empty means "default".
   */
  'name': (string);
}

export interface HttpTokensRequest {
}

export interface HttpTokensRequest__Output {
}

export interface ImportedCheckpoint {
  /**
   * Project root.
   */
  'root'?: (string);
  /**
   * As in SessionRequest.
   */
  'session'?: (string);
  /**
   * The text of the file.
   */
  'file'?: (string);
}

export interface ImportedCheckpoint__Output {
  /**
   * Project root.
   */
  'root': (string);
  /**
   * As in SessionRequest.
   */
  'session': (string);
  /**
   * The text of the file.
   */
  'file': (string);
}

export interface InstallEvent {
  'progress'?: (InstallProgress | null);
  /**
   * The last event.
   */
  'plan'?: (ToolPlan | null);
  'event'?: "progress"|"plan";
}

export interface InstallEvent__Output {
  'progress'?: (InstallProgress__Output | null);
  /**
   * The last event.
   */
  'plan'?: (ToolPlan__Output | null);
  'event'?: "progress"|"plan";
}

export interface InstallProgress {
  /**
   * "resolve", "download", "unpack" or "check".
   */
  'step'?: (string);
  'bytes'?: (number | string | Long);
  /**
   * 0: not known.
   */
  'total_bytes'?: (number | string | Long);
  'bytes_per_second'?: (number | string | Long);
  'text'?: (string);
}

export interface InstallProgress__Output {
  /**
   * "resolve", "download", "unpack" or "check".
   */
  'step': (string);
  'bytes': (number);
  /**
   * 0: not known.
   */
  'total_bytes': (number);
  'bytes_per_second': (number);
  'text': (string);
}

export interface InstallRequest {
  /**
   * Absolute path of the project with symlinks resolved.
   */
  'root'?: (string);
  /**
   * In the grammar of docs/tools.md, such as "github.com/org/tool@v1".
   */
  'source'?: (string);
  /**
   * Absolute; what relative paths in `source` begin at.
   */
  'cwd'?: (string);
  /**
   * Variables of the person's shell that lead to credentials, proxies and certificates.
   */
  'variables'?: ({[key: string]: string});
  /**
   * True to fetch what git names besides its own files.
   */
  'submodules'?: (boolean);
  'lfs'?: (boolean);
  /**
   * What a lock file pins: the commit or the hash of the archive. Empty: not pinned.
   */
  'commit'?: (string);
  'archive_sha256'?: (string);
}

export interface InstallRequest__Output {
  /**
   * Absolute path of the project with symlinks resolved.
   */
  'root': (string);
  /**
   * In the grammar of docs/tools.md, such as "github.com/org/tool@v1".
   */
  'source': (string);
  /**
   * Absolute; what relative paths in `source` begin at.
   */
  'cwd': (string);
  /**
   * Variables of the person's shell that lead to credentials, proxies and certificates.
   */
  'variables': ({[key: string]: string});
  /**
   * True to fetch what git names besides its own files.
   */
  'submodules': (boolean);
  'lfs': (boolean);
  /**
   * What a lock file pins: the commit or the hash of the archive. Empty: not pinned.
   */
  'commit': (string);
  'archive_sha256': (string);
}

export interface KeptApproval {
  'id'?: (string);
  'rule'?: (ApprovalRuleInfo | null);
  /**
   * Project root.
   */
  'project'?: (string);
  /**
   * allow or never.
   */
  'verdict'?: (string);
  /**
   * Milliseconds since the epoch.
   */
  'given_ms'?: (number | string);
  /**
   * Milliseconds since the epoch. 0: without an end.
   */
  'expires_ms'?: (number | string);
}

export interface KeptApproval__Output {
  'id': (string);
  'rule': (ApprovalRuleInfo__Output | null);
  /**
   * Project root.
   */
  'project': (string);
  /**
   * allow or never.
   */
  'verdict': (string);
  /**
   * Milliseconds since the epoch.
   */
  'given_ms': (number);
  /**
   * Milliseconds since the epoch. 0: without an end.
   */
  'expires_ms': (number);
}

export interface KillRequest {
  /**
   * The id of a running item, or its beginning or end.
   */
  'id'?: (string);
}

export interface KillRequest__Output {
  /**
   * The id of a running item, or its beginning or end.
   */
  'id': (string);
}

export interface KindLift {
  /**
   * written by a person, an agent or a tool; distilled from recorded calls; or imported.
   */
  'kind'?: (string);
  /**
   * Sessions that found such memories: with a reported outcome, with one that only the record shows, and with none.
   */
  'reported'?: (number);
  'weak'?: (number);
  'open'?: (number);
  /**
   * Shares of successes with and without what was found, from 0 to 1.
   */
  'shown_success'?: (number | string);
  'held_out_success'?: (number | string);
  /**
   * The difference of the two and its 95 % interval, from -1 to 1.
   */
  'lift'?: (number | string);
  'low'?: (number | string);
  'high'?: (number | string);
  /**
   * helps, harms, no difference, or too little data.
   */
  'verdict'?: (string);
}

export interface KindLift__Output {
  /**
   * written by a person, an agent or a tool; distilled from recorded calls; or imported.
   */
  'kind': (string);
  /**
   * Sessions that found such memories: with a reported outcome, with one that only the record shows, and with none.
   */
  'reported': (number);
  'weak': (number);
  'open': (number);
  /**
   * Shares of successes with and without what was found, from 0 to 1.
   */
  'shown_success': (number);
  'held_out_success': (number);
  /**
   * The difference of the two and its 95 % interval, from -1 to 1.
   */
  'lift': (number);
  'low': (number);
  'high': (number);
  /**
   * helps, harms, no difference, or too little data.
   */
  'verdict': (string);
}

export interface LearnRequest {
  /**
   * Project root.
   */
  'root'?: (string);
  /**
   * Ids of calls of the project, in any order.
   */
  'request_ids'?: (string)[];
  /**
   * The session whose calls are meant; empty if request_ids names them.
   */
  'session'?: (string);
  /**
   * What the work was for; may be empty.
   */
  'task'?: (string);
  /**
   * success, failure or mixed; empty: as the calls ended.
   */
  'outcome'?: (string);
}

export interface LearnRequest__Output {
  /**
   * Project root.
   */
  'root': (string);
  /**
   * Ids of calls of the project, in any order.
   */
  'request_ids': (string)[];
  /**
   * The session whose calls are meant; empty if request_ids names them.
   */
  'session': (string);
  /**
   * What the work was for; may be empty.
   */
  'task': (string);
  /**
   * success, failure or mixed; empty: as the calls ended.
   */
  'outcome': (string);
}

export interface ListRequest {
  /**
   * Empty means the core tools; otherwise the tools accepted for this project.
   */
  'root'?: (string);
  /**
   * The tools that `ctxd init` would set the project up with: the core tools of this installation, and those installed in the
   * project. The project need not be registered.
   */
  'offered'?: (boolean);
}

export interface ListRequest__Output {
  /**
   * Empty means the core tools; otherwise the tools accepted for this project.
   */
  'root': (string);
  /**
   * The tools that `ctxd init` would set the project up with: the core tools of this installation, and those installed in the
   * project. The project need not be registered.
   */
  'offered': (boolean);
}

export interface ListResponse {
  'tools'?: (ToolInfo)[];
}

export interface ListResponse__Output {
  'tools': (ToolInfo__Output)[];
}

export interface ListeningPort {
  'port'?: (number);
  /**
   * For example "127.0.0.1", "0.0.0.0" or "::1".
   */
  'address'?: (string);
}

export interface ListeningPort__Output {
  'port': (number);
  /**
   * For example "127.0.0.1", "0.0.0.0" or "::1".
   */
  'address': (string);
}

export interface MadeHttpToken {
  'made'?: (HttpToken | null);
  'token'?: (string);
  /**
   * The key with which the daemon answers challenges for this token, hexadecimal.
   */
  'proof_key'?: (string);
}

export interface MadeHttpToken__Output {
  'made': (HttpToken__Output | null);
  'token': (string);
  /**
   * The key with which the daemon answers challenges for this token, hexadecimal.
   */
  'proof_key': (string);
}

export interface MemoryEvidence {
  'memory'?: (MemoryItem | null);
  /**
   * The newest first.
   */
  'feedback'?: (MemoryFeedback)[];
}

export interface MemoryEvidence__Output {
  'memory': (MemoryItem__Output | null);
  /**
   * The newest first.
   */
  'feedback': (MemoryFeedback__Output)[];
}

export interface MemoryFeedback {
  /**
   * success, failure or mixed.
   */
  'outcome'?: (string);
  'note'?: (string);
  /**
   * The call that gave it; empty for a person.
   */
  'request_id'?: (string);
  /**
   * Milliseconds since the epoch.
   */
  'at_ms'?: (number | string);
}

export interface MemoryFeedback__Output {
  /**
   * success, failure or mixed.
   */
  'outcome': (string);
  'note': (string);
  /**
   * The call that gave it; empty for a person.
   */
  'request_id': (string);
  /**
   * Milliseconds since the epoch.
   */
  'at_ms': (number);
}

export interface MemoryItem {
  'id'?: (string);
  'title'?: (string);
  /**
   * When to use it and when not.
   */
  'description'?: (string);
  /**
   * An excerpt, unless whole contents were asked for.
   */
  'content'?: (string);
  'tags'?: (string)[];
  /**
   * success, failure or mixed.
   */
  'outcome'?: (string);
  /**
   * The task that taught it.
   */
  'task'?: (string);
  'context'?: (string);
  /**
   * project or global.
   */
  'scope'?: (string);
  /**
   * Root of the project it was stored in.
   */
  'project'?: (string);
  /**
   * person, model, tool or import.
   */
  'origin'?: (string);
  /**
   * The installed tool that stored it; empty for all others.
   */
  'owner'?: (string);
  /**
   * Where it was imported from; empty if it was made here.
   */
  'source'?: (string);
  /**
   * Ids of the calls that taught it.
   */
  'provenance'?: (string)[];
  /**
   * Ids of memories that say the opposite.
   */
  'contradicts'?: (string)[];
  /**
   * From 0 to 1.
   */
  'confidence'?: (number | string);
  /**
   * How often its content was read.
   */
  'uses'?: (number);
  /**
   * True: it kept failing, and no search finds it.
   */
  'quarantined'?: (boolean);
  /**
   * Milliseconds since the epoch; used_ms is 0 if its content was never read.
   */
  'created_ms'?: (number | string);
  'updated_ms'?: (number | string);
  'used_ms'?: (number | string);
  /**
   * Ids of older memories that it took the place of, and the one that took its place: no search finds it then.
   */
  'replaces'?: (string)[];
  'replaced_by'?: (string);
}

export interface MemoryItem__Output {
  'id': (string);
  'title': (string);
  /**
   * When to use it and when not.
   */
  'description': (string);
  /**
   * An excerpt, unless whole contents were asked for.
   */
  'content': (string);
  'tags': (string)[];
  /**
   * success, failure or mixed.
   */
  'outcome': (string);
  /**
   * The task that taught it.
   */
  'task': (string);
  'context': (string);
  /**
   * project or global.
   */
  'scope': (string);
  /**
   * Root of the project it was stored in.
   */
  'project': (string);
  /**
   * person, model, tool or import.
   */
  'origin': (string);
  /**
   * The installed tool that stored it; empty for all others.
   */
  'owner': (string);
  /**
   * Where it was imported from; empty if it was made here.
   */
  'source': (string);
  /**
   * Ids of the calls that taught it.
   */
  'provenance': (string)[];
  /**
   * Ids of memories that say the opposite.
   */
  'contradicts': (string)[];
  /**
   * From 0 to 1.
   */
  'confidence': (number);
  /**
   * How often its content was read.
   */
  'uses': (number);
  /**
   * True: it kept failing, and no search finds it.
   */
  'quarantined': (boolean);
  /**
   * Milliseconds since the epoch; used_ms is 0 if its content was never read.
   */
  'created_ms': (number);
  'updated_ms': (number);
  'used_ms': (number);
  /**
   * Ids of older memories that it took the place of, and the one that took its place: no search finds it then.
   */
  'replaces': (string)[];
  'replaced_by': (string);
}

export interface MemoryLift {
  'id'?: (string);
  'title'?: (string);
  /**
   * Sessions with a known outcome in which a search showed the memory, and in which it was held out.
   */
  'shown'?: (number);
  'held_out'?: (number);
  /**
   * The same sessions whose outcome is not known yet.
   */
  'shown_open'?: (number);
  'held_out_open'?: (number);
  /**
   * Shares of successes, from 0 to 1; 0 if there is no such session.
   */
  'shown_success'?: (number | string);
  'held_out_success'?: (number | string);
  /**
   * The difference of the two and its 95 % interval, from -1 to 1.
   */
  'lift'?: (number | string);
  'low'?: (number | string);
  'high'?: (number | string);
  /**
   * helps, harms, no difference, or too little data.
   */
  'verdict'?: (string);
}

export interface MemoryLift__Output {
  'id': (string);
  'title': (string);
  /**
   * Sessions with a known outcome in which a search showed the memory, and in which it was held out.
   */
  'shown': (number);
  'held_out': (number);
  /**
   * The same sessions whose outcome is not known yet.
   */
  'shown_open': (number);
  'held_out_open': (number);
  /**
   * Shares of successes, from 0 to 1; 0 if there is no such session.
   */
  'shown_success': (number);
  'held_out_success': (number);
  /**
   * The difference of the two and its 95 % interval, from -1 to 1.
   */
  'lift': (number);
  'low': (number);
  'high': (number);
  /**
   * helps, harms, no difference, or too little data.
   */
  'verdict': (string);
}

export interface MemoryList {
  'memories'?: (MemoryItem)[];
  /**
   * Of a search: why the shared store was not asked, so that what others stored last may be missing, and why meaning was not
   * compared; empty if neither happened.
   */
  'degraded'?: (string);
}

export interface MemoryList__Output {
  'memories': (MemoryItem__Output)[];
  /**
   * Of a search: why the shared store was not asked, so that what others stored last may be missing, and why meaning was not
   * compared; empty if neither happened.
   */
  'degraded': (string);
}

export interface MemoryListRequest {
  /**
   * Project root.
   */
  'root'?: (string);
  /**
   * Only memories behind this one; empty means from the first.
   */
  'after_id'?: (string);
  /**
   * 1 to 500; 0 means 100.
   */
  'limit'?: (number);
  /**
   * True: with whole contents.
   */
  'with_content'?: (boolean);
}

export interface MemoryListRequest__Output {
  /**
   * Project root.
   */
  'root': (string);
  /**
   * Only memories behind this one; empty means from the first.
   */
  'after_id': (string);
  /**
   * 1 to 500; 0 means 100.
   */
  'limit': (number);
  /**
   * True: with whole contents.
   */
  'with_content': (boolean);
}

export interface MemoryQuery {
  /**
   * Project root.
   */
  'root'?: (string);
  'query'?: (string);
  /**
   * 1 to 100; 0 means 10.
   */
  'limit'?: (number);
  /**
   * Only memories that have all of them.
   */
  'tags'?: (string)[];
  /**
   * success, failure or mixed; empty means all.
   */
  'outcome'?: (string);
  /**
   * project or global; empty means both.
   */
  'scope'?: (string);
  /**
   * Only memories that changed in the last days, this number of them; 0 means all.
   */
  'max_age_days'?: (number);
}

export interface MemoryQuery__Output {
  /**
   * Project root.
   */
  'root': (string);
  'query': (string);
  /**
   * 1 to 100; 0 means 10.
   */
  'limit': (number);
  /**
   * Only memories that have all of them.
   */
  'tags': (string)[];
  /**
   * success, failure or mixed; empty means all.
   */
  'outcome': (string);
  /**
   * project or global; empty means both.
   */
  'scope': (string);
  /**
   * Only memories that changed in the last days, this number of them; 0 means all.
   */
  'max_age_days': (number);
}

export interface MemoryRating {
  /**
   * Project root.
   */
  'root'?: (string);
  'id'?: (string);
  /**
   * success, failure or mixed; empty: nothing is recorded.
   */
  'outcome'?: (string);
  'note'?: (string);
}

export interface MemoryRating__Output {
  /**
   * Project root.
   */
  'root': (string);
  'id': (string);
  /**
   * success, failure or mixed; empty: nothing is recorded.
   */
  'outcome': (string);
  'note': (string);
}

export interface MemoryReport {
  /**
   * The share of retrievals that is held out now, from 0 to 0.5.
   */
  'holdout'?: (number | string);
  /**
   * Memories that a search found while some were held out, the best known first.
   */
  'memories'?: (MemoryLift)[];
  /**
   * The same for all memories of a kind together, from both kinds of outcomes.
   */
  'kinds'?: (KindLift)[];
}

export interface MemoryReport__Output {
  /**
   * The share of retrievals that is held out now, from 0 to 0.5.
   */
  'holdout': (number);
  /**
   * Memories that a search found while some were held out, the best known first.
   */
  'memories': (MemoryLift__Output)[];
  /**
   * The same for all memories of a kind together, from both kinds of outcomes.
   */
  'kinds': (KindLift__Output)[];
}

export interface MemoryRequest {
  /**
   * Project root.
   */
  'root'?: (string);
  'ids'?: (string)[];
}

export interface MemoryRequest__Output {
  /**
   * Project root.
   */
  'root': (string);
  'ids': (string)[];
}

export interface MemorySync {
  /**
   * off (no server is configured), idle (everything was sent and read), behind (there is more to send) or failing.
   */
  'state'?: (string);
  'url'?: (string);
  'collection'?: (string);
  /**
   * The id by which others know the project; empty if it is not shared.
   */
  'project_id'?: (string);
  /**
   * Changes that the server does not have yet.
   */
  'pending'?: (number);
  /**
   * Memories of others that are here.
   */
  'foreign'?: (number);
  /**
   * Points of others that could not be read or masked since the daemon started.
   */
  'refused'?: (number);
  /**
   * When the last round succeeded, in milliseconds since the epoch; 0: none did since the daemon started.
   */
  'synced_ms'?: (number | string);
  /**
   * Why the last call failed; empty if it did not.
   */
  'fault'?: (string);
  /**
   * Milliseconds until the next attempt.
   */
  'retry_ms'?: (number);
}

export interface MemorySync__Output {
  /**
   * off (no server is configured), idle (everything was sent and read), behind (there is more to send) or failing.
   */
  'state': (string);
  'url': (string);
  'collection': (string);
  /**
   * The id by which others know the project; empty if it is not shared.
   */
  'project_id': (string);
  /**
   * Changes that the server does not have yet.
   */
  'pending': (number);
  /**
   * Memories of others that are here.
   */
  'foreign': (number);
  /**
   * Points of others that could not be read or masked since the daemon started.
   */
  'refused': (number);
  /**
   * When the last round succeeded, in milliseconds since the epoch; 0: none did since the daemon started.
   */
  'synced_ms': (number);
  /**
   * Why the last call failed; empty if it did not.
   */
  'fault': (string);
  /**
   * Milliseconds until the next attempt.
   */
  'retry_ms': (number);
}

export interface MemorySyncRequest {
  /**
   * Project root; empty: of no project.
   */
  'root'?: (string);
  /**
   * status, now (send and read at once) or rebuild (send and read everything again).
   */
  'action'?: (string);
}

export interface MemorySyncRequest__Output {
  /**
   * Project root; empty: of no project.
   */
  'root': (string);
  /**
   * status, now (send and read at once) or rebuild (send and read everything again).
   */
  'action': (string);
}

export interface NetworkChange {
  /**
   * The project root; empty means every project of this machine.
   */
  'root'?: (string);
  /**
   * "allow", "deny", "remove", "on" or "off".
   */
  'action'?: (string);
  /**
   * Hosts, patterns and groups.
   */
  'targets'?: (string)[];
  /**
   * The first call that uses the permission uses it up.
   */
  'once'?: (boolean);
  /**
   * Milliseconds until the permission ends; 0 means no end.
   */
  'for_ms'?: (number | string | Long);
  /**
   * Addresses that are not public and to which the names may lead; "any" means every address.
   */
  'private_addresses'?: (string)[];
  /**
   * The account of the person, for the record.
   */
  'by'?: (string);
  'dry_run'?: (boolean);
}

export interface NetworkChange__Output {
  /**
   * The project root; empty means every project of this machine.
   */
  'root': (string);
  /**
   * "allow", "deny", "remove", "on" or "off".
   */
  'action': (string);
  /**
   * Hosts, patterns and groups.
   */
  'targets': (string)[];
  /**
   * The first call that uses the permission uses it up.
   */
  'once': (boolean);
  /**
   * Milliseconds until the permission ends; 0 means no end.
   */
  'for_ms': (number);
  /**
   * Addresses that are not public and to which the names may lead; "any" means every address.
   */
  'private_addresses': (string)[];
  /**
   * The account of the person, for the record.
   */
  'by': (string);
  'dry_run': (boolean);
}

export interface NetworkCredentialChange {
  /**
   * "scope" is ignored: "root" says where it holds.
   */
  'credential'?: (NetworkCredentialInfo | null);
  /**
   * The project root; empty means every project of this machine.
   */
  'root'?: (string);
  /**
   * The secret itself.
   */
  'secret'?: (string);
  'dry_run'?: (boolean);
}

export interface NetworkCredentialChange__Output {
  /**
   * "scope" is ignored: "root" says where it holds.
   */
  'credential': (NetworkCredentialInfo__Output | null);
  /**
   * The project root; empty means every project of this machine.
   */
  'root': (string);
  /**
   * The secret itself.
   */
  'secret': (string);
  'dry_run': (boolean);
}

/**
 * Everything about a credential but its value.
 */
export interface NetworkCredentialInfo {
  'host'?: (string);
  'port'?: (number);
  /**
   * In lower case, such as "authorization".
   */
  'header'?: (string);
  /**
   * "bearer", "token", "basic", or "plain" for the value alone.
   */
  'scheme'?: (string);
  /**
   * For "basic"; empty means that the secret is "user:password", or a token.
   */
  'user'?: (string);
  /**
   * "gh", "env:NAME" or "file:PATH".
   */
  'source'?: (string);
  'methods'?: (string)[];
  /**
   * Globs over the path; empty means every path.
   */
  'paths'?: (string)[];
  /**
   * Variables that hold a placeholder in commands.
   */
  'placeholders'?: (string)[];
  /**
   * Milliseconds after which the value is read again; 0 means never.
   */
  'refresh_ms'?: (number | string | Long);
  /**
   * "project" or "machine".
   */
  'from'?: (string);
  /**
   * When the value was read, milliseconds since the epoch.
   */
  'read_ms'?: (number | string | Long);
  'given_by'?: (string);
  /**
   * "ok", "expired", or "rejected" if the host did not accept it.
   */
  'state'?: (string);
}

/**
 * Everything about a credential but its value.
 */
export interface NetworkCredentialInfo__Output {
  'host': (string);
  'port': (number);
  /**
   * In lower case, such as "authorization".
   */
  'header': (string);
  /**
   * "bearer", "token", "basic", or "plain" for the value alone.
   */
  'scheme': (string);
  /**
   * For "basic"; empty means that the secret is "user:password", or a token.
   */
  'user': (string);
  /**
   * "gh", "env:NAME" or "file:PATH".
   */
  'source': (string);
  'methods': (string)[];
  /**
   * Globs over the path; empty means every path.
   */
  'paths': (string)[];
  /**
   * Variables that hold a placeholder in commands.
   */
  'placeholders': (string)[];
  /**
   * Milliseconds after which the value is read again; 0 means never.
   */
  'refresh_ms': (number);
  /**
   * "project" or "machine".
   */
  'from': (string);
  /**
   * When the value was read, milliseconds since the epoch.
   */
  'read_ms': (number);
  'given_by': (string);
  /**
   * "ok", "expired", or "rejected" if the host did not accept it.
   */
  'state': (string);
}

export interface NetworkCredentialRemoval {
  'root'?: (string);
  /**
   * host or host:port
   */
  'host'?: (string);
  /**
   * Only those of exactly these paths; empty means all of the host.
   */
  'paths'?: (string)[];
}

export interface NetworkCredentialRemoval__Output {
  'root': (string);
  /**
   * host or host:port
   */
  'host': (string);
  /**
   * Only those of exactly these paths; empty means all of the host.
   */
  'paths': (string)[];
}

export interface NetworkCredentials {
  /**
   * Those of the project and those of the machine.
   */
  'credentials'?: (NetworkCredentialInfo)[];
  /**
   * What was added or removed, or would be.
   */
  'changed'?: (NetworkCredentialInfo)[];
  /**
   * What a person should know, one sentence each.
   */
  'notes'?: (string)[];
}

export interface NetworkCredentials__Output {
  /**
   * Those of the project and those of the machine.
   */
  'credentials': (NetworkCredentialInfo__Output)[];
  /**
   * What was added or removed, or would be.
   */
  'changed': (NetworkCredentialInfo__Output)[];
  /**
   * What a person should know, one sentence each.
   */
  'notes': (string)[];
}

export interface NetworkGroup {
  'name'?: (string);
  'summary'?: (string);
  'patterns'?: (string)[];
  /**
   * What a permission for the group includes on this machine besides: the registries that `ctxd network mirrors` handed in.
   */
  'mirrors'?: (string)[];
}

export interface NetworkGroup__Output {
  'name': (string);
  'summary': (string);
  'patterns': (string)[];
  /**
   * What a permission for the group includes on this machine besides: the registries that `ctxd network mirrors` handed in.
   */
  'mirrors': (string)[];
}

export interface NetworkGroups {
  'groups'?: (NetworkGroup)[];
}

export interface NetworkGroups__Output {
  'groups': (NetworkGroup__Output)[];
}

export interface NetworkGroupsRequest {
}

export interface NetworkGroupsRequest__Output {
}

export interface NetworkLogEntry {
  'id'?: (number | string | Long);
  /**
   * Milliseconds since the epoch.
   */
  'at_ms'?: (number | string | Long);
  'project'?: (string);
  /**
   * Empty for the commands of the project.
   */
  'tool'?: (string);
  /**
   * Empty if they are not known.
   */
  'session'?: (string);
  'request_id'?: (string);
  'host'?: (string);
  /**
   * 0 for a name look-up.
   */
  'port'?: (number);
  /**
   * "connect", "http", "socks", "direct" or "dns".
   */
  'via'?: (string);
  /**
   * "allowed", "denied", or "cut" if the proxy closed an allowed connection.
   */
  'verdict'?: (string);
  'rule'?: (string);
  'why'?: (string);
  /**
   * Bytes from and to the sandbox.
   */
  'up'?: (number | string | Long);
  'down'?: (number | string | Long);
  /**
   * Absent while it is open.
   */
  'duration_ms'?: (number | string | Long);
  /**
   * How many equal connections the entry stands for.
   */
  'repeats'?: (number);
  '_duration_ms'?: "duration_ms";
}

export interface NetworkLogEntry__Output {
  'id': (number);
  /**
   * Milliseconds since the epoch.
   */
  'at_ms': (number);
  'project': (string);
  /**
   * Empty for the commands of the project.
   */
  'tool': (string);
  /**
   * Empty if they are not known.
   */
  'session': (string);
  'request_id': (string);
  'host': (string);
  /**
   * 0 for a name look-up.
   */
  'port': (number);
  /**
   * "connect", "http", "socks", "direct" or "dns".
   */
  'via': (string);
  /**
   * "allowed", "denied", or "cut" if the proxy closed an allowed connection.
   */
  'verdict': (string);
  'rule': (string);
  'why': (string);
  /**
   * Bytes from and to the sandbox.
   */
  'up': (number);
  'down': (number);
  /**
   * Absent while it is open.
   */
  'duration_ms'?: (number);
  /**
   * How many equal connections the entry stands for.
   */
  'repeats': (number);
  '_duration_ms'?: "duration_ms";
}

export interface NetworkLogRequest {
  /**
   * Empty means all projects, and all sessions.
   */
  'root'?: (string);
  'session'?: (string);
  'denied_only'?: (boolean);
  /**
   * Only entries with a greater id.
   */
  'after_id'?: (number | string | Long);
  /**
   * The number of newest entries; 0 means 50. At most 1000.
   */
  'limit'?: (number);
}

export interface NetworkLogRequest__Output {
  /**
   * Empty means all projects, and all sessions.
   */
  'root': (string);
  'session': (string);
  'denied_only': (boolean);
  /**
   * Only entries with a greater id.
   */
  'after_id': (number);
  /**
   * The number of newest entries; 0 means 50. At most 1000.
   */
  'limit': (number);
}

export interface NetworkLogResponse {
  /**
   * Oldest first.
   */
  'entries'?: (NetworkLogEntry)[];
}

export interface NetworkLogResponse__Output {
  /**
   * Oldest first.
   */
  'entries': (NetworkLogEntry__Output)[];
}

export interface NetworkRequest {
  /**
   * Empty means the rules of the machine alone.
   */
  'root'?: (string);
}

export interface NetworkRequest__Output {
  /**
   * Empty means the rules of the machine alone.
   */
  'root': (string);
}

export interface NetworkRuleInfo {
  /**
   * "project" or "machine".
   */
  'from'?: (string);
  'pattern'?: (string);
  /**
   * "allow" or "deny".
   */
  'verdict'?: (string);
  /**
   * The group that was named; empty if the pattern itself was.
   */
  'group'?: (string);
  'once'?: (boolean);
  /**
   * Milliseconds since the epoch; 0 means no end.
   */
  'expires_ms'?: (number | string | Long);
  /**
   * "any" means every address.
   */
  'private_addresses'?: (string)[];
  'given_ms'?: (number | string | Long);
  'given_by'?: (string);
  /**
   * The denial that makes a permission void; empty if it is in effect.
   */
  'overridden_by'?: (string);
}

export interface NetworkRuleInfo__Output {
  /**
   * "project" or "machine".
   */
  'from': (string);
  'pattern': (string);
  /**
   * "allow" or "deny".
   */
  'verdict': (string);
  /**
   * The group that was named; empty if the pattern itself was.
   */
  'group': (string);
  'once': (boolean);
  /**
   * Milliseconds since the epoch; 0 means no end.
   */
  'expires_ms': (number);
  /**
   * "any" means every address.
   */
  'private_addresses': (string)[];
  'given_ms': (number);
  'given_by': (string);
  /**
   * The denial that makes a permission void; empty if it is in effect.
   */
  'overridden_by': (string);
}

export interface NetworkState {
  'root'?: (string);
  /**
   * False if commands have no network at all.
   */
  'is_on'?: (boolean);
  /**
   * "project" or "machine": who decided that.
   */
  'is_on_from'?: (string);
  /**
   * Those of the project and those of the machine.
   */
  'rules'?: (NetworkRuleInfo)[];
  /**
   * What ChangeNetwork added or removed, or would add or remove.
   */
  'changed'?: (NetworkRuleInfo)[];
  /**
   * What a person should know about the change, one sentence each.
   */
  'notes'?: (string)[];
  /**
   * The tools that ask for a network, and what each may reach.
   */
  'tools'?: (NetworkToolInfo)[];
}

export interface NetworkState__Output {
  'root': (string);
  /**
   * False if commands have no network at all.
   */
  'is_on': (boolean);
  /**
   * "project" or "machine": who decided that.
   */
  'is_on_from': (string);
  /**
   * Those of the project and those of the machine.
   */
  'rules': (NetworkRuleInfo__Output)[];
  /**
   * What ChangeNetwork added or removed, or would add or remove.
   */
  'changed': (NetworkRuleInfo__Output)[];
  /**
   * What a person should know about the change, one sentence each.
   */
  'notes': (string)[];
  /**
   * The tools that ask for a network, and what each may reach.
   */
  'tools': (NetworkToolInfo__Output)[];
}

export interface NetworkToolInfo {
  'tool'?: (string);
  'asks_for'?: (string)[];
  'may_reach'?: (string)[];
}

export interface NetworkToolInfo__Output {
  'tool': (string);
  'asks_for': (string)[];
  'may_reach': (string)[];
}

export interface NewApprovalRule {
  /**
   * Project root. Empty: every project.
   */
  'root'?: (string);
  /**
   * A name of a tool; * stands for any characters.
   */
  'tool'?: (string);
  /**
   * A RE2 pattern that the input must contain. Empty: any input.
   */
  'when'?: (string);
  /**
   * May be empty.
   */
  'reason'?: (string);
  /**
   * The account of the person.
   */
  'by'?: (string);
}

export interface NewApprovalRule__Output {
  /**
   * Project root. Empty: every project.
   */
  'root': (string);
  /**
   * A name of a tool; * stands for any characters.
   */
  'tool': (string);
  /**
   * A RE2 pattern that the input must contain. Empty: any input.
   */
  'when': (string);
  /**
   * May be empty.
   */
  'reason': (string);
  /**
   * The account of the person.
   */
  'by': (string);
}

export interface NewCheckpoint {
  /**
   * Project root.
   */
  'root'?: (string);
  /**
   * As in SessionRequest.
   */
  'session'?: (string);
  /**
   * At most 80 characters. May be empty.
   */
  'name'?: (string);
  /**
   * At most 8,000 characters. May be empty.
   */
  'note'?: (string);
}

export interface NewCheckpoint__Output {
  /**
   * Project root.
   */
  'root': (string);
  /**
   * As in SessionRequest.
   */
  'session': (string);
  /**
   * At most 80 characters. May be empty.
   */
  'name': (string);
  /**
   * At most 8,000 characters. May be empty.
   */
  'note': (string);
}

export interface NewHttpToken {
  /**
   * Empty means "default".
   */
  'name'?: (string);
  /**
   * The only project that the token may name; empty means the machine.
   */
  'root'?: (string);
  /**
   * Of read, execute and decide; none means read and execute.
   */
  'permissions'?: (string)[];
  /**
   * When it ends, in milliseconds since the epoch; 0 means never.
   */
  'expires_ms'?: (number | string | Long);
  /**
   * Replaces the token of the same name. Without it such a token is a CONFLICT.
   */
  'replace'?: (boolean);
}

export interface NewHttpToken__Output {
  /**
   * Empty means "default".
   */
  'name': (string);
  /**
   * The only project that the token may name; empty means the machine.
   */
  'root': (string);
  /**
   * Of read, execute and decide; none means read and execute.
   */
  'permissions': (string)[];
  /**
   * When it ends, in milliseconds since the epoch; 0 means never.
   */
  'expires_ms': (number);
  /**
   * Replaces the token of the same name. Without it such a token is a CONFLICT.
   */
  'replace': (boolean);
}

export interface NewMemories {
  /**
   * Project root.
   */
  'root'?: (string);
  /**
   * One JSON object each, as UTF-8 text: {title, description, content, tags, outcome, task, context}. At most 500.
   */
  'drafts_json'?: (string)[];
  /**
   * Where they come from; empty means that the person wrote them. What is imported is merged only with the same words.
   */
  'source'?: (string);
}

export interface NewMemories__Output {
  /**
   * Project root.
   */
  'root': (string);
  /**
   * One JSON object each, as UTF-8 text: {title, description, content, tags, outcome, task, context}. At most 500.
   */
  'drafts_json': (string)[];
  /**
   * Where they come from; empty means that the person wrote them. What is imported is merged only with the same words.
   */
  'source': (string);
}

export interface NewUpstream {
  /**
   * Project root.
   */
  'root'?: (string);
  /**
   * The namespace of its tools.
   */
  'name'?: (string);
  /**
   * The program and its arguments. Empty for a server that is reached over HTTP.
   */
  'command'?: (string)[];
  /**
   * Of a server that is reached over HTTP; otherwise empty.
   */
  'url'?: (string);
  /**
   * Its variables. The values may be secrets, and are in no answer.
   */
  'variables'?: (UpstreamVariable)[];
  /**
   * Hosts and groups of hosts that it may reach besides the host of the URL.
   */
  'hosts'?: (string)[];
  /**
   * Outside the project.
   */
  'paths'?: (UpstreamPath)[];
  /**
   * What it sees of the project: none, read or write.
   */
  'project'?: (string);
  /**
   * The host whose credential its requests carry: that of the URL. Empty: none.
   */
  'header_from'?: (string);
  /**
   * The account of the person.
   */
  'by'?: (string);
  'dry_run'?: (boolean);
  /**
   * The path of a catalogue file that is added in place of a server, and what is in it; otherwise empty.
   */
  'catalog'?: (string);
  'catalog_json'?: (string);
  /**
   * Where the command would be started without contextd: its relative paths are of there. Empty: the project root.
   */
  'directory'?: (string);
}

export interface NewUpstream__Output {
  /**
   * Project root.
   */
  'root': (string);
  /**
   * The namespace of its tools.
   */
  'name': (string);
  /**
   * The program and its arguments. Empty for a server that is reached over HTTP.
   */
  'command': (string)[];
  /**
   * Of a server that is reached over HTTP; otherwise empty.
   */
  'url': (string);
  /**
   * Its variables. The values may be secrets, and are in no answer.
   */
  'variables': (UpstreamVariable__Output)[];
  /**
   * Hosts and groups of hosts that it may reach besides the host of the URL.
   */
  'hosts': (string)[];
  /**
   * Outside the project.
   */
  'paths': (UpstreamPath__Output)[];
  /**
   * What it sees of the project: none, read or write.
   */
  'project': (string);
  /**
   * The host whose credential its requests carry: that of the URL. Empty: none.
   */
  'header_from': (string);
  /**
   * The account of the person.
   */
  'by': (string);
  'dry_run': (boolean);
  /**
   * The path of a catalogue file that is added in place of a server, and what is in it; otherwise empty.
   */
  'catalog': (string);
  'catalog_json': (string);
  /**
   * Where the command would be started without contextd: its relative paths are of there. Empty: the project root.
   */
  'directory': (string);
}

export interface OpenPortRequest {
  /**
   * Project root.
   */
  'root'?: (string);
  'port'?: (number);
}

export interface OpenPortRequest__Output {
  /**
   * Project root.
   */
  'root': (string);
  'port': (number);
}

export interface OpenPortResponse {
  /**
   * Path of a unix socket that only this user can reach. The way stays open as long as the first connection to it,
   * which must come within ten seconds and gets a line whenever nothing answers. Every further connection leads to the
   * port.
   */
  'socket'?: (string);
}

export interface OpenPortResponse__Output {
  /**
   * Path of a unix socket that only this user can reach. The way stays open as long as the first connection to it,
   * which must come within ten seconds and gets a line whenever nothing answers. Every further connection leads to the
   * port.
   */
  'socket': (string);
}

export interface PathList {
  /**
   * Absolute real paths, sorted.
   */
  'paths'?: (string)[];
}

export interface PathList__Output {
  /**
   * Absolute real paths, sorted.
   */
  'paths': (string)[];
}

export interface PathRequest {
  /**
   * Project root.
   */
  'root'?: (string);
  /**
   * Absolute real path of a directory.
   */
  'path'?: (string);
}

export interface PathRequest__Output {
  /**
   * Project root.
   */
  'root': (string);
  /**
   * Absolute real path of a directory.
   */
  'path': (string);
}

export interface PendingLesson {
  'id'?: (string);
  'task'?: (string);
  /**
   * Calls that are looked at.
   */
  'calls'?: (number);
  /**
   * Milliseconds since the epoch.
   */
  'asked_ms'?: (number | string);
  /**
   * waiting, or failed.
   */
  'state'?: (string);
  /**
   * Why it failed; empty if it did not.
   */
  'fault'?: (string);
}

export interface PendingLesson__Output {
  'id': (string);
  'task': (string);
  /**
   * Calls that are looked at.
   */
  'calls': (number);
  /**
   * Milliseconds since the epoch.
   */
  'asked_ms': (number);
  /**
   * waiting, or failed.
   */
  'state': (string);
  /**
   * Why it failed; empty if it did not.
   */
  'fault': (string);
}

export interface PendingLessons {
  'lessons'?: (PendingLesson)[];
}

export interface PendingLessons__Output {
  'lessons': (PendingLesson__Output)[];
}

export interface PortsResponse {
  'ports'?: (ListeningPort)[];
}

export interface PortsResponse__Output {
  'ports': (ListeningPort__Output)[];
}

export interface PrivateHost {
  'host'?: (string);
  'addresses'?: (string)[];
}

export interface PrivateHost__Output {
  'host': (string);
  'addresses': (string)[];
}

/**
 * The caches of one project: ~/.cache, ~/.npm, ~/go and others, as its commands see them.
 */
export interface ProjectCaches {
  'project'?: (string);
  'bytes'?: (number | string);
  /**
   * What they may keep.
   */
  'max_bytes'?: (number | string);
  /**
   * When a command last used them, milliseconds since the epoch.
   */
  'used_ms'?: (number | string);
}

/**
 * The caches of one project: ~/.cache, ~/.npm, ~/go and others, as its commands see them.
 */
export interface ProjectCaches__Output {
  'project': (string);
  'bytes': (number);
  /**
   * What they may keep.
   */
  'max_bytes': (number);
  /**
   * When a command last used them, milliseconds since the epoch.
   */
  'used_ms': (number);
}

export interface ProjectRequest {
  /**
   * Absolute path with symlinks resolved.
   */
  'root'?: (string);
}

export interface ProjectRequest__Output {
  /**
   * Absolute path with symlinks resolved.
   */
  'root': (string);
}

export interface ProjectResponse {
  'root'?: (string);
  /**
   * False if the call changed nothing.
   */
  'changed'?: (boolean);
  'tools'?: (ToolInfo)[];
}

export interface ProjectResponse__Output {
  'root': (string);
  /**
   * False if the call changed nothing.
   */
  'changed': (boolean);
  'tools': (ToolInfo__Output)[];
}

export interface ProjectTools {
  'root'?: (string);
  /**
   * The core tools and the installed tools of the project.
   */
  'tools'?: (ToolInfo)[];
}

export interface ProjectTools__Output {
  'root': (string);
  /**
   * The core tools and the installed tools of the project.
   */
  'tools': (ToolInfo__Output)[];
}

export interface QuarantineRequest {
  'root'?: (string);
  /**
   * An id, or at least eight digits of a SHA-256; for RevokeAccepted also a path. Empty lists everything.
   */
  'which'?: (string);
  /**
   * For ListQuarantine: no person sees the list. RestoreQuarantined restores only what a list showed last.
   */
  'unseen'?: (boolean);
}

export interface QuarantineRequest__Output {
  'root': (string);
  /**
   * An id, or at least eight digits of a SHA-256; for RevokeAccepted also a path. Empty lists everything.
   */
  'which': (string);
  /**
   * For ListQuarantine: no person sees the list. RestoreQuarantined restores only what a list showed last.
   */
  'unseen': (boolean);
}

/**
 * The listed or changed items and acceptances.
 */
export interface QuarantineResponse {
  'items'?: (QuarantinedItem)[];
  'accepted'?: (AcceptedContent)[];
}

/**
 * The listed or changed items and acceptances.
 */
export interface QuarantineResponse__Output {
  'items': (QuarantinedItem__Output)[];
  'accepted': (AcceptedContent__Output)[];
}

export interface QuarantinedItem {
  'id'?: (string);
  /**
   * Its original path, relative to the project.
   */
  'path'?: (string);
  /**
   * Its current path, absolute if it is outside the project: `path` itself if it was only reported.
   */
  'moved'?: (string);
  /**
   * A clause that continues "was set aside:" or "was reported:".
   */
  'reason'?: (string);
  /**
   * Milliseconds since the epoch.
   */
  'set_aside_ms'?: (number | string);
  /**
   * "file", "directory", "link" or "other".
   */
  'kind'?: (string);
  /**
   * Absent if the bytes were not counted.
   */
  'size_bytes'?: (number | string);
  /**
   * The hash of its current content; empty if it has none.
   */
  'sha256'?: (string);
  /**
   * Why it has no hash; empty if it has one.
   */
  'no_hash_because'?: (string);
  /**
   * The first lines of a text, the names in a directory; empty for anything else.
   */
  'preview'?: (string);
  '_size_bytes'?: "size_bytes";
}

export interface QuarantinedItem__Output {
  'id': (string);
  /**
   * Its original path, relative to the project.
   */
  'path': (string);
  /**
   * Its current path, absolute if it is outside the project: `path` itself if it was only reported.
   */
  'moved': (string);
  /**
   * A clause that continues "was set aside:" or "was reported:".
   */
  'reason': (string);
  /**
   * Milliseconds since the epoch.
   */
  'set_aside_ms': (number);
  /**
   * "file", "directory", "link" or "other".
   */
  'kind': (string);
  /**
   * Absent if the bytes were not counted.
   */
  'size_bytes'?: (number);
  /**
   * The hash of its current content; empty if it has none.
   */
  'sha256': (string);
  /**
   * Why it has no hash; empty if it has one.
   */
  'no_hash_because': (string);
  /**
   * The first lines of a text, the names in a directory; empty for anything else.
   */
  'preview': (string);
  '_size_bytes'?: "size_bytes";
}

export interface ReadySandboxes {
  'project'?: (string);
  'count'?: (number);
}

export interface ReadySandboxes__Output {
  'project': (string);
  'count': (number);
}

export interface RecordSettingsRequest {
}

export interface RecordSettingsRequest__Output {
}

export interface RecordedSettings {
  /**
   * Their keys, such as "budget.max_tokens".
   */
  'changed'?: (string)[];
}

export interface RecordedSettings__Output {
  /**
   * Their keys, such as "budget.max_tokens".
   */
  'changed': (string)[];
}

export interface RegistrySetting {
  /**
   * For example "npm".
   */
  'client'?: (string);
  /**
   * As the client calls it, for example "registry".
   */
  'key'?: (string);
  /**
   * Without credentials.
   */
  'value'?: (string);
}

export interface RegistrySetting__Output {
  /**
   * For example "npm".
   */
  'client': (string);
  /**
   * As the client calls it, for example "registry".
   */
  'key': (string);
  /**
   * Without credentials.
   */
  'value': (string);
}

export interface ReplayedContext {
  'number'?: (number | string);
  'position'?: (number | string);
  'phase'?: (string);
  'sha256'?: (string);
  'at_ms'?: (number | string);
  /**
   * "same", "differs", or "gone" if events that it was made of were removed.
   */
  'result'?: (string);
}

export interface ReplayedContext__Output {
  'number': (number);
  'position': (number);
  'phase': (string);
  'sha256': (string);
  'at_ms': (number);
  /**
   * "same", "differs", or "gone" if events that it was made of were removed.
   */
  'result': (string);
}

export interface RestartRequest {
  /**
   * PATH of the new daemon, which has everything else of its environment from the old one. Empty: that of the old one.
   */
  'path'?: (string);
}

export interface RestartRequest__Output {
  /**
   * PATH of the new daemon, which has everything else of its environment from the old one. Empty: that of the old one.
   */
  'path': (string);
}

/**
 * Sent when the new daemon answers.
 */
export interface RestartResponse {
  'pid'?: (number);
  /**
   * Calls and jobs that go on.
   */
  'carried_calls'?: (number);
  'carried_jobs'?: (number);
}

/**
 * Sent when the new daemon answers.
 */
export interface RestartResponse__Output {
  'pid': (number);
  /**
   * Calls and jobs that go on.
   */
  'carried_calls': (number);
  'carried_jobs': (number);
}

export interface RevealedSecret {
  'summary'?: (SecretSummary | null);
  /**
   * The session that was meant.
   */
  'session'?: (string);
  /**
   * Of the call in whose answer it showed first. Empty if that was no call's.
   */
  'request_id'?: (string);
  /**
   * The beginning of that call's input.
   */
  'input'?: (string);
  'value'?: (string);
}

export interface RevealedSecret__Output {
  'summary': (SecretSummary__Output | null);
  /**
   * The session that was meant.
   */
  'session': (string);
  /**
   * Of the call in whose answer it showed first. Empty if that was no call's.
   */
  'request_id': (string);
  /**
   * The beginning of that call's input.
   */
  'input': (string);
  'value': (string);
}

export interface RollbackToolRequest {
  'root'?: (string);
  'name'?: (string);
  /**
   * True: only answers what the tools of the project would be, and changes nothing.
   */
  'preview'?: (boolean);
}

export interface RollbackToolRequest__Output {
  'root': (string);
  'name': (string);
  /**
   * True: only answers what the tools of the project would be, and changes nothing.
   */
  'preview': (boolean);
}

export interface RulesReview {
  /**
   * The path of the file.
   */
  'path'?: (string);
  /**
   * Empty if the file does not exist.
   */
  'sha256'?: (string);
  'approved'?: (boolean);
  /**
   * The number of rules it adds, approved or not.
   */
  'rules'?: (number);
  /**
   * What needs an approval, one sentence each.
   */
  'allowances'?: (string)[];
  /**
   * Why the file cannot be used, or empty.
   */
  'fault'?: (string);
}

export interface RulesReview__Output {
  /**
   * The path of the file.
   */
  'path': (string);
  /**
   * Empty if the file does not exist.
   */
  'sha256': (string);
  'approved': (boolean);
  /**
   * The number of rules it adds, approved or not.
   */
  'rules': (number);
  /**
   * What needs an approval, one sentence each.
   */
  'allowances': (string)[];
  /**
   * Why the file cannot be used, or empty.
   */
  'fault': (string);
}

/**
 * A job or a call that runs.
 */
export interface RunningItem {
  'id'?: (string);
  /**
   * "job" or "call".
   */
  'kind'?: (string);
  'project'?: (string);
  'session'?: (string);
  'tool'?: (string);
  /**
   * The number of a job in its session; 0 for a call.
   */
  'job'?: (number);
  /**
   * Milliseconds since the epoch.
   */
  'started_ms'?: (number | string);
  /**
   * What it was asked to do, scrubbed and shortened.
   */
  'command'?: (string);
  /**
   * Absent if they are not known.
   */
  'memory_bytes'?: (number | string);
  'cpu_ms'?: (number | string);
  '_memory_bytes'?: "memory_bytes";
  '_cpu_ms'?: "cpu_ms";
}

/**
 * A job or a call that runs.
 */
export interface RunningItem__Output {
  'id': (string);
  /**
   * "job" or "call".
   */
  'kind': (string);
  'project': (string);
  'session': (string);
  'tool': (string);
  /**
   * The number of a job in its session; 0 for a call.
   */
  'job': (number);
  /**
   * Milliseconds since the epoch.
   */
  'started_ms': (number);
  /**
   * What it was asked to do, scrubbed and shortened.
   */
  'command': (string);
  /**
   * Absent if they are not known.
   */
  'memory_bytes'?: (number);
  'cpu_ms'?: (number);
  '_memory_bytes'?: "memory_bytes";
  '_cpu_ms'?: "cpu_ms";
}

export interface RunningRequest {
  /**
   * Empty means all projects.
   */
  'project_root'?: (string);
}

export interface RunningRequest__Output {
  /**
   * Empty means all projects.
   */
  'project_root': (string);
}

export interface RunningResponse {
  'items'?: (RunningItem)[];
}

export interface RunningResponse__Output {
  'items': (RunningItem__Output)[];
}

/**
 * What runs and waits now.
 */
export interface SandboxStatus {
  /**
   * 0 if no spawner runs.
   */
  'spawner_pid'?: (number);
  'spawner_resident_bytes'?: (number | string | Long);
  /**
   * Running commands.
   */
  'running'?: (number);
  /**
   * Long-lived tool processes.
   */
  'processes'?: (number);
  /**
   * Sandboxes that are ready and waiting, by project.
   */
  'ready'?: (ReadySandboxes)[];
  /**
   * The maximum number of ready sandboxes.
   */
  'ready_max'?: (number);
  /**
   * Memory and processes of all sandboxes together, and their limits; absent without a cgroup.
   */
  'totals'?: (SandboxTotals | null);
  /**
   * Commands that a ready sandbox has served.
   */
  'ready_used'?: (number | string | Long);
}

/**
 * What runs and waits now.
 */
export interface SandboxStatus__Output {
  /**
   * 0 if no spawner runs.
   */
  'spawner_pid': (number);
  'spawner_resident_bytes': (number);
  /**
   * Running commands.
   */
  'running': (number);
  /**
   * Long-lived tool processes.
   */
  'processes': (number);
  /**
   * Sandboxes that are ready and waiting, by project.
   */
  'ready': (ReadySandboxes__Output)[];
  /**
   * The maximum number of ready sandboxes.
   */
  'ready_max': (number);
  /**
   * Memory and processes of all sandboxes together, and their limits; absent without a cgroup.
   */
  'totals': (SandboxTotals__Output | null);
  /**
   * Commands that a ready sandbox has served.
   */
  'ready_used': (number);
}

export interface SandboxTotals {
  'memory_bytes'?: (number | string | Long);
  'memory_max_bytes'?: (number | string | Long);
  'pids'?: (number);
  'pids_max'?: (number);
}

export interface SandboxTotals__Output {
  'memory_bytes': (number);
  'memory_max_bytes': (number);
  'pids': (number);
  'pids_max': (number);
}

export interface SecretRequest {
  /**
   * Project root.
   */
  'root'?: (string);
  /**
   * As in SessionRequest.
   */
  'session'?: (string);
  /**
   * "[SECRET_1]".
   */
  'token'?: (string);
}

export interface SecretRequest__Output {
  /**
   * Project root.
   */
  'root': (string);
  /**
   * As in SessionRequest.
   */
  'session': (string);
  /**
   * "[SECRET_1]".
   */
  'token': (string);
}

export interface SecretSummary {
  /**
   * "[SECRET_1]".
   */
  'token'?: (string);
  /**
   * The rule or seed that found it first.
   */
  'rule'?: (string);
  /**
   * "private key", "password", "key", "token" or "secret".
   */
  'kind'?: (string);
  /**
   * Empty if it was not found in a tool's answer.
   */
  'tool'?: (string);
  /**
   * Milliseconds since the epoch.
   */
  'first_seen_ms'?: (number | string | Long);
  /**
   * How often it was masked.
   */
  'uses'?: (number | string | Long);
  /**
   * The number of calls in which it replaced its token.
   */
  'opened'?: (number | string | Long);
  /**
   * Milliseconds since the epoch; 0 means never.
   */
  'last_opened_ms'?: (number | string | Long);
}

export interface SecretSummary__Output {
  /**
   * "[SECRET_1]".
   */
  'token': (string);
  /**
   * The rule or seed that found it first.
   */
  'rule': (string);
  /**
   * "private key", "password", "key", "token" or "secret".
   */
  'kind': (string);
  /**
   * Empty if it was not found in a tool's answer.
   */
  'tool': (string);
  /**
   * Milliseconds since the epoch.
   */
  'first_seen_ms': (number);
  /**
   * How often it was masked.
   */
  'uses': (number);
  /**
   * The number of calls in which it replaced its token.
   */
  'opened': (number);
  /**
   * Milliseconds since the epoch; 0 means never.
   */
  'last_opened_ms': (number);
}

export interface SessionContext {
  'session'?: (string);
  /**
   * Of the newest event that was read.
   */
  'position'?: (number | string);
  'text'?: (string);
  'sha256'?: (string);
  /**
   * What became of every candidate, as a JSON object.
   */
  'stats_json'?: (string);
}

export interface SessionContext__Output {
  'session': (string);
  /**
   * Of the newest event that was read.
   */
  'position': (number);
  'text': (string);
  'sha256': (string);
  /**
   * What became of every candidate, as a JSON object.
   */
  'stats_json': (string);
}

export interface SessionContextRequest {
  'root'?: (string);
  'session'?: (string);
  'branch'?: (string);
  /**
   * "route", "call", "interpret" or "answer".
   */
  'phase'?: (string);
  'query'?: (string);
  /**
   * Tokens of the text; 0: those of the phase.
   */
  'budget_tokens'?: (number);
  /**
   * Events of this sensitivity or above are left out; empty: "restricted".
   */
  'floor'?: (string);
  /**
   * Show events at or above the floor without their text, instead of leaving them out.
   */
  'redact'?: (boolean);
  /**
   * The position up to which the log is read; 0: to the newest event.
   */
  'to'?: (number | string);
}

export interface SessionContextRequest__Output {
  'root': (string);
  'session': (string);
  'branch': (string);
  /**
   * "route", "call", "interpret" or "answer".
   */
  'phase': (string);
  'query': (string);
  /**
   * Tokens of the text; 0: those of the phase.
   */
  'budget_tokens': (number);
  /**
   * Events of this sensitivity or above are left out; empty: "restricted".
   */
  'floor': (string);
  /**
   * Show events at or above the floor without their text, instead of leaving them out.
   */
  'redact': (boolean);
  /**
   * The position up to which the log is read; 0: to the newest event.
   */
  'to': (number);
}

export interface SessionEvent {
  'seq'?: (number | string);
  'branch'?: (string);
  'kind'?: (string);
  /**
   * 0 if it depends on no event.
   */
  'parent'?: (number | string);
  /**
   * Milliseconds since the epoch.
   */
  'at_ms'?: (number | string);
  'sensitivity'?: (string);
  'tokens'?: (number | string);
  'text'?: (string);
  /**
   * A JSON object, by kind.
   */
  'facts_json'?: (string);
  'artifact'?: (string);
}

export interface SessionEvent__Output {
  'seq': (number);
  'branch': (string);
  'kind': (string);
  /**
   * 0 if it depends on no event.
   */
  'parent': (number);
  /**
   * Milliseconds since the epoch.
   */
  'at_ms': (number);
  'sensitivity': (string);
  'tokens': (number);
  'text': (string);
  /**
   * A JSON object, by kind.
   */
  'facts_json': (string);
  'artifact': (string);
}

export interface SessionEvents {
  'session'?: (string);
  'events'?: (SessionEvent)[];
}

export interface SessionEvents__Output {
  'session': (string);
  'events': (SessionEvent__Output)[];
}

export interface SessionEventsRequest {
  'root'?: (string);
  /**
   * Empty means the session with the newest event.
   */
  'session'?: (string);
  /**
   * Empty means the base.
   */
  'branch'?: (string);
  /**
   * Events of the base and of all branches.
   */
  'all_branches'?: (boolean);
  /**
   * The first position and the last; 0: from the first, to the newest.
   */
  'from'?: (number | string);
  'to'?: (number | string);
  /**
   * At most this many, the newest; 0: the default.
   */
  'limit'?: (number);
}

export interface SessionEventsRequest__Output {
  'root': (string);
  /**
   * Empty means the session with the newest event.
   */
  'session': (string);
  /**
   * Empty means the base.
   */
  'branch': (string);
  /**
   * Events of the base and of all branches.
   */
  'all_branches': (boolean);
  /**
   * The first position and the last; 0: from the first, to the newest.
   */
  'from': (number);
  'to': (number);
  /**
   * At most this many, the newest; 0: the default.
   */
  'limit': (number);
}

export interface SessionList {
  'sessions'?: (SessionSummary)[];
}

export interface SessionList__Output {
  'sessions': (SessionSummary__Output)[];
}

export interface SessionReplay {
  'session'?: (string);
  'contexts'?: (ReplayedContext)[];
}

export interface SessionReplay__Output {
  'session': (string);
  'contexts': (ReplayedContext__Output)[];
}

export interface SessionRequest {
  /**
   * Project root.
   */
  'root'?: (string);
  /**
   * As the proxy names it. Empty means the session that a call without a name gets.
   */
  'session'?: (string);
}

export interface SessionRequest__Output {
  /**
   * Project root.
   */
  'root': (string);
  /**
   * As the proxy names it. Empty means the session that a call without a name gets.
   */
  'session': (string);
}

export interface SessionSecretsResponse {
  'root'?: (string);
  'session'?: (string);
  'secrets'?: (SecretSummary)[];
}

export interface SessionSecretsResponse__Output {
  'root': (string);
  'session': (string);
  'secrets': (SecretSummary__Output)[];
}

export interface SessionSummary {
  'session'?: (string);
  /**
   * The position of its newest event: positions count from 1 and are kept when older events are removed.
   */
  'position'?: (number | string);
  /**
   * How many events are kept.
   */
  'events'?: (number | string);
  /**
   * Branches that have events.
   */
  'branches'?: (number | string);
  /**
   * Milliseconds since the epoch, of the oldest event that is kept and of the newest.
   */
  'first_ms'?: (number | string);
  'last_ms'?: (number | string);
}

export interface SessionSummary__Output {
  'session': (string);
  /**
   * The position of its newest event: positions count from 1 and are kept when older events are removed.
   */
  'position': (number);
  /**
   * How many events are kept.
   */
  'events': (number);
  /**
   * Branches that have events.
   */
  'branches': (number);
  /**
   * Milliseconds since the epoch, of the oldest event that is kept and of the newest.
   */
  'first_ms': (number);
  'last_ms': (number);
}

export interface StateCopy {
  /**
   * A new directory that holds the copies. They hold the keys: the caller removes the directory.
   */
  'directory'?: (string);
  'segments'?: (AuditSegment)[];
}

export interface StateCopy__Output {
  /**
   * A new directory that holds the copies. They hold the keys: the caller removes the directory.
   */
  'directory': (string);
  'segments': (AuditSegment__Output)[];
}

export interface StatsRequest {
  /**
   * Empty means all projects.
   */
  'project_root'?: (string);
  /**
   * UTC days including today; 0 means 7. At most 366.
   */
  'days'?: (number);
}

export interface StatsRequest__Output {
  /**
   * Empty means all projects.
   */
  'project_root': (string);
  /**
   * UTC days including today; 0 means 7. At most 366.
   */
  'days': (number);
}

export interface StatsResponse {
  'rows'?: (StatsRow)[];
}

export interface StatsResponse__Output {
  'rows': (StatsRow__Output)[];
}

/**
 * The calls of one tool in one session on one day.
 */
export interface StatsRow {
  /**
   * "2026-01-31", UTC.
   */
  'day'?: (string);
  'project'?: (string);
  'session'?: (string);
  'tool'?: (string);
  'calls'?: (number | string | Long);
  'failed'?: (number | string | Long);
  /**
   * Secrets masked in answers.
   */
  'secrets'?: (number | string | Long);
  /**
   * Secrets that only the daemon's search found, not the one in the tool's process.
   */
  'missed_by_first_pass'?: (number | string | Long);
  /**
   * Secrets that gitleaks found later in stored outputs.
   */
  'missed_by_engine'?: (number | string | Long);
  /**
   * Milliseconds of all calls and of their searches for secrets.
   */
  'duration_ms'?: (number | string);
  'scrub_ms'?: (number | string);
  /**
   * Calls that ran nothing but fetched more of an earlier output.
   */
  'follow_ups'?: (number | string | Long);
  /**
   * Calls whose tokens are known. The token fields sum only these.
   */
  'counted_calls'?: (number | string | Long);
  /**
   * How many of those have an estimated tokens_run.
   */
  'estimated_calls'?: (number | string | Long);
  /**
   * Tokens that the whole outputs would have cost.
   */
  'tokens_run'?: (number | string);
  /**
   * Tokens of all answers, including follow-ups.
   */
  'tokens_returned'?: (number | string);
  /**
   * tokens_run - tokens_returned, so the cost of follow-ups is subtracted. Negative if more was returned than run.
   */
  'tokens_saved'?: (number | string);
  /**
   * Stored outputs, and answers that did not contain the whole output.
   */
  'artifacts'?: (number | string | Long);
  'truncated'?: (number | string | Long);
  /**
   * Calls whose time in the tool is known, and the milliseconds that contextd added to them.
   */
  'timed_calls'?: (number | string | Long);
  'added_ms'?: (number | string);
  /**
   * Failed calls by the code of their error. The counts of one row add up to `failed`.
   */
  'errors'?: ({[key: string]: number | string | Long});
  /**
   * Calls of MCP servers that were answered from a kept answer, and attempts after the first.
   */
  'kept'?: (number | string | Long);
  'retries'?: (number | string | Long);
}

/**
 * The calls of one tool in one session on one day.
 */
export interface StatsRow__Output {
  /**
   * "2026-01-31", UTC.
   */
  'day': (string);
  'project': (string);
  'session': (string);
  'tool': (string);
  'calls': (number);
  'failed': (number);
  /**
   * Secrets masked in answers.
   */
  'secrets': (number);
  /**
   * Secrets that only the daemon's search found, not the one in the tool's process.
   */
  'missed_by_first_pass': (number);
  /**
   * Secrets that gitleaks found later in stored outputs.
   */
  'missed_by_engine': (number);
  /**
   * Milliseconds of all calls and of their searches for secrets.
   */
  'duration_ms': (number);
  'scrub_ms': (number);
  /**
   * Calls that ran nothing but fetched more of an earlier output.
   */
  'follow_ups': (number);
  /**
   * Calls whose tokens are known. The token fields sum only these.
   */
  'counted_calls': (number);
  /**
   * How many of those have an estimated tokens_run.
   */
  'estimated_calls': (number);
  /**
   * Tokens that the whole outputs would have cost.
   */
  'tokens_run': (number);
  /**
   * Tokens of all answers, including follow-ups.
   */
  'tokens_returned': (number);
  /**
   * tokens_run - tokens_returned, so the cost of follow-ups is subtracted. Negative if more was returned than run.
   */
  'tokens_saved': (number);
  /**
   * Stored outputs, and answers that did not contain the whole output.
   */
  'artifacts': (number);
  'truncated': (number);
  /**
   * Calls whose time in the tool is known, and the milliseconds that contextd added to them.
   */
  'timed_calls': (number);
  'added_ms': (number);
  /**
   * Failed calls by the code of their error. The counts of one row add up to `failed`.
   */
  'errors': ({[key: string]: number});
  /**
   * Calls of MCP servers that were answered from a kept answer, and attempts after the first.
   */
  'kept': (number);
  'retries': (number);
}

export interface StatusRequest {
}

export interface StatusRequest__Output {
}

export interface StatusResponse {
  'pid'?: (number);
  'version'?: (string);
  'uptime_ms'?: (number | string | Long);
  'socket'?: (string);
  /**
   * Calls answered since the start.
   */
  'calls'?: (number | string | Long);
  'active_calls'?: (number);
  'projects'?: (number);
  'resident_bytes'?: (number | string | Long);
  'protocol_version'?: (number);
  /**
   * The isolation level of this machine: "full", "reduced" or "unavailable".
   */
  'isolation'?: (string);
  'sandbox'?: (SandboxStatus | null);
  /**
   * Tool links of registered projects that do not lead to the proxy: calls through them bypass contextd.
   */
  'bad_links'?: (BadLink)[];
  'steps'?: (StepLatency)[];
}

export interface StatusResponse__Output {
  'pid': (number);
  'version': (string);
  'uptime_ms': (number);
  'socket': (string);
  /**
   * Calls answered since the start.
   */
  'calls': (number);
  'active_calls': (number);
  'projects': (number);
  'resident_bytes': (number);
  'protocol_version': (number);
  /**
   * The isolation level of this machine: "full", "reduced" or "unavailable".
   */
  'isolation': (string);
  'sandbox': (SandboxStatus__Output | null);
  /**
   * Tool links of registered projects that do not lead to the proxy: calls through them bypass contextd.
   */
  'bad_links': (BadLink__Output)[];
  'steps': (StepLatency__Output)[];
}

/**
 * How long a step of the calls took since the daemon started, in microseconds.
 */
export interface StepLatency {
  /**
   * A step; `slot` and `journal`: the waits for a turn and for the journal within `run`; `ready_sandbox` and `new_sandbox`: those of
   * commands for a sandbox that waited, or was started for them; `event_loop`: how late that of the daemon was while calls ran.
   */
  'step'?: (string);
  'count'?: (number | string | Long);
  'sum_us'?: (number | string);
  /**
   * Upper bounds, included. The last bucket has no bound, so there is one more count.
   */
  'bounds_us'?: (number | string | Long)[];
  'counts'?: (number | string | Long)[];
}

/**
 * How long a step of the calls took since the daemon started, in microseconds.
 */
export interface StepLatency__Output {
  /**
   * A step; `slot` and `journal`: the waits for a turn and for the journal within `run`; `ready_sandbox` and `new_sandbox`: those of
   * commands for a sandbox that waited, or was started for them; `event_loop`: how late that of the daemon was while calls ran.
   */
  'step': (string);
  'count': (number);
  'sum_us': (number);
  /**
   * Upper bounds, included. The last bucket has no bound, so there is one more count.
   */
  'bounds_us': (number)[];
  'counts': (number)[];
}

export interface StopRequest {
  /**
   * Milliseconds to wait for running calls; 0 means the configured default.
   */
  'grace_ms'?: (number);
  /**
   * Whether a new daemon is started afterwards. Calls that are ended report it.
   */
  'restart'?: (boolean);
}

export interface StopRequest__Output {
  /**
   * Milliseconds to wait for running calls; 0 means the configured default.
   */
  'grace_ms': (number);
  /**
   * Whether a new daemon is started afterwards. Calls that are ended report it.
   */
  'restart': (boolean);
}

/**
 * Sent when no call runs any more, shortly before the daemon ends.
 */
export interface StopResponse {
  'pid'?: (number);
  /**
   * Calls that were running at the request.
   */
  'active_calls'?: (number);
  /**
   * How many of those were ended because they took longer than the grace period.
   */
  'ended_calls'?: (number);
}

/**
 * Sent when no call runs any more, shortly before the daemon ends.
 */
export interface StopResponse__Output {
  'pid': (number);
  /**
   * Calls that were running at the request.
   */
  'active_calls': (number);
  /**
   * How many of those were ended because they took longer than the grace period.
   */
  'ended_calls': (number);
}

export interface ToolChoice {
  'tool_id'?: (string);
  /**
   * The stems of the scrubbed query.
   */
  'words'?: (string)[];
}

export interface ToolChoice__Output {
  'tool_id': (string);
  /**
   * The stems of the scrubbed query.
   */
  'words': (string)[];
}

export interface ToolInfo {
  'name'?: (string);
  'purpose'?: (string);
  'bundle_sha256'?: (string);
  /**
   * "core" or "installed".
   */
  'origin'?: (string);
  'schema_json'?: (string);
  'tool_md'?: (string);
  'tool_extended_md'?: (string);
  'grants'?: (string)[];
  'version'?: (string);
  /**
   * Absent for core tools.
   */
  'installed_from'?: (ToolOrigin | null);
  /**
   * Milliseconds since the epoch; 0 for core tools.
   */
  'accepted_ms'?: (number | string | Long);
  /**
   * The day of its last call in the project, UTC, such as "2026-01-31"; empty: none in the last 30 days, or not asked.
   */
  'last_used'?: (string);
  'schema_tokens'?: (number);
  /**
   * "ready", or why it cannot be called.
   */
  'state'?: (string);
}

export interface ToolInfo__Output {
  'name': (string);
  'purpose': (string);
  'bundle_sha256': (string);
  /**
   * "core" or "installed".
   */
  'origin': (string);
  'schema_json': (string);
  'tool_md': (string);
  'tool_extended_md': (string);
  'grants': (string)[];
  'version': (string);
  /**
   * Absent for core tools.
   */
  'installed_from': (ToolOrigin__Output | null);
  /**
   * Milliseconds since the epoch; 0 for core tools.
   */
  'accepted_ms': (number);
  /**
   * The day of its last call in the project, UTC, such as "2026-01-31"; empty: none in the last 30 days, or not asked.
   */
  'last_used': (string);
  'schema_tokens': (number);
  /**
   * "ready", or why it cannot be called.
   */
  'state': (string);
}

/**
 * Where the bytes of an installed tool came from.
 */
export interface ToolOrigin {
  /**
   * In the grammar of docs/tools.md, without credentials.
   */
  'source'?: (string);
  /**
   * Empty unless the source is a git repository.
   */
  'commit'?: (string);
  /**
   * Empty unless the source is an archive.
   */
  'archive_sha256'?: (string);
  /**
   * Who signed it, as verified; empty: nobody.
   */
  'signer'?: (string);
}

/**
 * Where the bytes of an installed tool came from.
 */
export interface ToolOrigin__Output {
  /**
   * In the grammar of docs/tools.md, without credentials.
   */
  'source': (string);
  /**
   * Empty unless the source is a git repository.
   */
  'commit': (string);
  /**
   * Empty unless the source is an archive.
   */
  'archive_sha256': (string);
  /**
   * Who signed it, as verified; empty: nobody.
   */
  'signer': (string);
}

/**
 * What the acceptance of a tool would change in a project.
 */
export interface ToolPlan {
  'tool'?: (ToolInfo | null);
  /**
   * "new", "update" or "same" (accepted already).
   */
  'state'?: (string);
  /**
   * One sentence for each grant, in the order of `tool.grants`.
   */
  'grant_words'?: (string)[];
  /**
   * The grants that this project has not given to this tool.
   */
  'new_grants'?: (string)[];
  /**
   * The accepted version; absent for "new".
   */
  'before'?: (ToolInfo | null);
  'files_added'?: (string)[];
  'files_removed'?: (string)[];
  'files_changed'?: (string)[];
  'schema_changed'?: (boolean);
  'files'?: (number);
  'bytes'?: (number | string | Long);
}

/**
 * What the acceptance of a tool would change in a project.
 */
export interface ToolPlan__Output {
  'tool': (ToolInfo__Output | null);
  /**
   * "new", "update" or "same" (accepted already).
   */
  'state': (string);
  /**
   * One sentence for each grant, in the order of `tool.grants`.
   */
  'grant_words': (string)[];
  /**
   * The grants that this project has not given to this tool.
   */
  'new_grants': (string)[];
  /**
   * The accepted version; absent for "new".
   */
  'before': (ToolInfo__Output | null);
  'files_added': (string)[];
  'files_removed': (string)[];
  'files_changed': (string)[];
  'schema_changed': (boolean);
  'files': (number);
  'bytes': (number);
}

export interface ToolRequest {
  'root'?: (string);
  'name'?: (string);
}

export interface ToolRequest__Output {
  'root': (string);
  'name': (string);
}

/**
 * Programs outside /usr that commands may read and run.
 */
export interface Toolchain {
  'name'?: (string);
  /**
   * Absolute real paths, mounted read-only.
   */
  'mounts'?: (string)[];
  /**
   * Variables that programs need to find the toolchain, such as JAVA_HOME.
   */
  'variables'?: ({[key: string]: string});
}

/**
 * Programs outside /usr that commands may read and run.
 */
export interface Toolchain__Output {
  'name': (string);
  /**
   * Absolute real paths, mounted read-only.
   */
  'mounts': (string)[];
  /**
   * Variables that programs need to find the toolchain, such as JAVA_HOME.
   */
  'variables': ({[key: string]: string});
}

export interface ToolchainList {
  'toolchains'?: (Toolchain)[];
  /**
   * The directories of the person's PATH, in order. Commands find programs in those that their sandbox has.
   */
  'path'?: (string)[];
}

export interface ToolchainList__Output {
  'toolchains': (Toolchain__Output)[];
  /**
   * The directories of the person's PATH, in order. Commands find programs in those that their sandbox has.
   */
  'path': (string)[];
}

export interface ToolchainRequest {
}

export interface ToolchainRequest__Output {
}

export interface UndoCall {
  /**
   * Empty if it changed nothing that can be put back.
   */
  'ref'?: (string);
  'request_id'?: (string);
  'tool'?: (string);
  /**
   * What the caller passed, as the audit log has it; empty if the log does not have it any more.
   */
  'input'?: (string);
  /**
   * When the call ended, in milliseconds since the epoch.
   */
  'at_ms'?: (number | string);
  /**
   * Such as "M src/a.ts"; at most 20 of file_count.
   */
  'files'?: (string)[];
  'file_count'?: (number);
  /**
   * What changed and is not covered, as "path: why"; at most 20.
   */
  'not_covered'?: (string)[];
  /**
   * work, byproducts (such as what git ignores: an undo without a name skips it) or not covered (nothing that can be put
   * back: an undo without a name stops there).
   */
  'verdict'?: (string);
  /**
   * contextd ended before the call did.
   */
  'cut_short'?: (boolean);
}

export interface UndoCall__Output {
  /**
   * Empty if it changed nothing that can be put back.
   */
  'ref': (string);
  'request_id': (string);
  'tool': (string);
  /**
   * What the caller passed, as the audit log has it; empty if the log does not have it any more.
   */
  'input': (string);
  /**
   * When the call ended, in milliseconds since the epoch.
   */
  'at_ms': (number);
  /**
   * Such as "M src/a.ts"; at most 20 of file_count.
   */
  'files': (string)[];
  'file_count': (number);
  /**
   * What changed and is not covered, as "path: why"; at most 20.
   */
  'not_covered': (string)[];
  /**
   * work, byproducts (such as what git ignores: an undo without a name skips it) or not covered (nothing that can be put
   * back: an undo without a name stops there).
   */
  'verdict': (string);
  /**
   * contextd ended before the call did.
   */
  'cut_short': (boolean);
}

export interface UndoCalls {
  /**
   * The newest first; at most 100.
   */
  'calls'?: (UndoCall)[];
}

export interface UndoCalls__Output {
  /**
   * The newest first; at most 100.
   */
  'calls': (UndoCall__Output)[];
}

export interface UndoFile {
  'path'?: (string);
  /**
   * restore, remove, done (it is already as it was before the call) or keep (it stays as it is).
   */
  'action'?: (string);
  /**
   * Why it stays; otherwise empty.
   */
  'why'?: (string);
}

export interface UndoFile__Output {
  'path': (string);
  /**
   * restore, remove, done (it is already as it was before the call) or keep (it stays as it is).
   */
  'action': (string);
  /**
   * Why it stays; otherwise empty.
   */
  'why': (string);
}

export interface UndoPlan {
  'ref'?: (string);
  'request_id'?: (string);
  'tool'?: (string);
  /**
   * When the call ended, in milliseconds since the epoch.
   */
  'at_ms'?: (number | string);
  'files'?: (UndoFile)[];
  /**
   * What changed and is not covered, as "path: why".
   */
  'not_covered'?: (string)[];
  /**
   * Other calls worked in the project meanwhile: some of the changes may be theirs.
   */
  'shared'?: (boolean);
  /**
   * By which the undo itself can be undone; empty in a plan, and if nothing was put back.
   */
  'undone_by'?: (string);
  /**
   * Newer calls that changed only by-products; empty if the request named a call.
   */
  'skipped'?: (UndoCall)[];
  /**
   * contextd ended before the call did: the changes are those until the next look at the files.
   */
  'cut_short'?: (boolean);
  /**
   * Request ids of other calls that ended with it: each of the changes may be theirs.
   */
  'cut_short_beside'?: (string)[];
}

export interface UndoPlan__Output {
  'ref': (string);
  'request_id': (string);
  'tool': (string);
  /**
   * When the call ended, in milliseconds since the epoch.
   */
  'at_ms': (number);
  'files': (UndoFile__Output)[];
  /**
   * What changed and is not covered, as "path: why".
   */
  'not_covered': (string)[];
  /**
   * Other calls worked in the project meanwhile: some of the changes may be theirs.
   */
  'shared': (boolean);
  /**
   * By which the undo itself can be undone; empty in a plan, and if nothing was put back.
   */
  'undone_by': (string);
  /**
   * Newer calls that changed only by-products; empty if the request named a call.
   */
  'skipped': (UndoCall__Output)[];
  /**
   * contextd ended before the call did: the changes are those until the next look at the files.
   */
  'cut_short': (boolean);
  /**
   * Request ids of other calls that ended with it: each of the changes may be theirs.
   */
  'cut_short_beside': (string)[];
}

export interface UndoRequest {
  /**
   * Project root.
   */
  'root'?: (string);
  /**
   * A ref (undo_…) or a request id (req_…) of an answer; empty: the last call that changed files.
   */
  'which'?: (string);
  /**
   * Put the other files back even if some have changed since. Otherwise nothing is put back then.
   */
  'partial'?: (boolean);
}

export interface UndoRequest__Output {
  /**
   * Project root.
   */
  'root': (string);
  /**
   * A ref (undo_…) or a request id (req_…) of an answer; empty: the last call that changed files.
   */
  'which': (string);
  /**
   * Put the other files back even if some have changed since. Otherwise nothing is put back then.
   */
  'partial': (boolean);
}

export interface UpstreamApproval {
  /**
   * Project root.
   */
  'root'?: (string);
  'name'?: (string);
  /**
   * What was shown.
   */
  'sha256'?: (string);
}

export interface UpstreamApproval__Output {
  /**
   * Project root.
   */
  'root': (string);
  'name': (string);
  /**
   * What was shown.
   */
  'sha256': (string);
}

export interface UpstreamChange {
  'tool'?: (string);
  /**
   * new, changed or removed.
   */
  'kind'?: (string);
  /**
   * The definitions as a unified diff.
   */
  'diff'?: (string);
}

export interface UpstreamChange__Output {
  'tool': (string);
  /**
   * new, changed or removed.
   */
  'kind': (string);
  /**
   * The definitions as a unified diff.
   */
  'diff': (string);
}

export interface UpstreamInfo {
  'name'?: (string);
  'command'?: (string)[];
  'url'?: (string);
  /**
   * Names only.
   */
  'variables'?: (string)[];
  /**
   * Hosts and groups of hosts that it may reach.
   */
  'hosts'?: (string)[];
  'paths'?: (UpstreamPath)[];
  /**
   * none, read or write.
   */
  'project'?: (string);
  'header_from'?: (string);
  /**
   * stopped, starting, running or failing; catalogue: it is a file.
   */
  'state'?: (string);
  /**
   * The revision of the Model Context Protocol, if it runs.
   */
  'protocol'?: (string);
  /**
   * Tools that agents can use.
   */
  'tools'?: (number);
  /**
   * Tools, prompts and templates whose definitions differ from what was accepted.
   */
  'waiting'?: (number);
  /**
   * Tokens that its tools would take in the tools/list of a client.
   */
  'tokens'?: (number);
  /**
   * Why it failed last; empty if it did not.
   */
  'last_error'?: (string);
  /**
   * The last lines that it printed on standard error.
   */
  'last_lines'?: (string)[];
  /**
   * Tools that it offers and that cannot be used, with the reason.
   */
  'left_out'?: (string)[];
  /**
   * Milliseconds since the epoch.
   */
  'added_ms'?: (number | string);
  'by'?: (string);
  /**
   * What a person should know about the server.
   */
  'notes'?: (string)[];
  /**
   * What the network refused to its last process, as `host:port: reason`.
   */
  'refused'?: (string)[];
  /**
   * Resources, with templates for them, and prompts that agents can use.
   */
  'resources'?: (number);
  'prompts'?: (number);
  /**
   * The path of the catalogue file; empty: it is a server.
   */
  'catalog'?: (string);
  /**
   * The command with which a person grants what its last process lacked: hosts that were refused, and paths that its sandbox does not
   * see. Empty: nothing, or nothing that can be granted.
   */
  'to_grant'?: (string);
  /**
   * Paths of the command that exist on this machine and that its sandbox does not see.
   */
  'unseen'?: (string)[];
}

export interface UpstreamInfo__Output {
  'name': (string);
  'command': (string)[];
  'url': (string);
  /**
   * Names only.
   */
  'variables': (string)[];
  /**
   * Hosts and groups of hosts that it may reach.
   */
  'hosts': (string)[];
  'paths': (UpstreamPath__Output)[];
  /**
   * none, read or write.
   */
  'project': (string);
  'header_from': (string);
  /**
   * stopped, starting, running or failing; catalogue: it is a file.
   */
  'state': (string);
  /**
   * The revision of the Model Context Protocol, if it runs.
   */
  'protocol': (string);
  /**
   * Tools that agents can use.
   */
  'tools': (number);
  /**
   * Tools, prompts and templates whose definitions differ from what was accepted.
   */
  'waiting': (number);
  /**
   * Tokens that its tools would take in the tools/list of a client.
   */
  'tokens': (number);
  /**
   * Why it failed last; empty if it did not.
   */
  'last_error': (string);
  /**
   * The last lines that it printed on standard error.
   */
  'last_lines': (string)[];
  /**
   * Tools that it offers and that cannot be used, with the reason.
   */
  'left_out': (string)[];
  /**
   * Milliseconds since the epoch.
   */
  'added_ms': (number);
  'by': (string);
  /**
   * What a person should know about the server.
   */
  'notes': (string)[];
  /**
   * What the network refused to its last process, as `host:port: reason`.
   */
  'refused': (string)[];
  /**
   * Resources, with templates for them, and prompts that agents can use.
   */
  'resources': (number);
  'prompts': (number);
  /**
   * The path of the catalogue file; empty: it is a server.
   */
  'catalog': (string);
  /**
   * The command with which a person grants what its last process lacked: hosts that were refused, and paths that its sandbox does not
   * see. Empty: nothing, or nothing that can be granted.
   */
  'to_grant': (string);
  /**
   * Paths of the command that exist on this machine and that its sandbox does not see.
   */
  'unseen': (string)[];
}

export interface UpstreamList {
  /**
   * Sorted by name. Of an addition, a removal or a restart: that server.
   */
  'servers'?: (UpstreamInfo)[];
}

export interface UpstreamList__Output {
  /**
   * Sorted by name. Of an addition, a removal or a restart: that server.
   */
  'servers': (UpstreamInfo__Output)[];
}

export interface UpstreamPath {
  /**
   * Absolute.
   */
  'path'?: (string);
  'writable'?: (boolean);
}

export interface UpstreamPath__Output {
  /**
   * Absolute.
   */
  'path': (string);
  'writable': (boolean);
}

export interface UpstreamRequest {
  /**
   * Project root.
   */
  'root'?: (string);
  /**
   * To list: only this one; empty: all.
   */
  'name'?: (string);
}

export interface UpstreamRequest__Output {
  /**
   * Project root.
   */
  'root': (string);
  /**
   * To list: only this one; empty: all.
   */
  'name': (string);
}

export interface UpstreamReview {
  'name'?: (string);
  /**
   * Identifies what the server offers now.
   */
  'sha256'?: (string);
  /**
   * Sorted by name. Of an approval: what was approved.
   */
  'changes'?: (UpstreamChange)[];
}

export interface UpstreamReview__Output {
  'name': (string);
  /**
   * Identifies what the server offers now.
   */
  'sha256': (string);
  /**
   * Sorted by name. Of an approval: what was approved.
   */
  'changes': (UpstreamChange__Output)[];
}

export interface UpstreamVariable {
  'name'?: (string);
  'value'?: (string);
  /**
   * In place of `value`: that of the server that has this name now.
   */
  'kept'?: (boolean);
}

export interface UpstreamVariable__Output {
  'name': (string);
  'value': (string);
  /**
   * In place of `value`: that of the server that has this name now.
   */
  'kept': (boolean);
}

export interface WaitingApproval {
  'id'?: (string);
  'rule'?: (ApprovalRuleInfo | null);
  /**
   * Project root.
   */
  'project'?: (string);
  'session'?: (string);
  /**
   * Empty: the base of the session.
   */
  'branch'?: (string);
  'tool'?: (string);
  /**
   * The directory in which the call was made.
   */
  'cwd'?: (string);
  /**
   * The input of the call, with its secrets masked: the words of a call with nothing else, otherwise JSON.
   */
  'text'?: (string);
  /**
   * The characters of the whole text. A list of several items may leave out a long text: ask for the one item.
   */
  'text_chars'?: (number);
  /**
   * True if the text could not be searched for secrets, and is therefore withheld.
   */
  'text_withheld'?: (boolean);
  /**
   * Milliseconds since the epoch.
   */
  'asked_ms'?: (number | string);
  /**
   * Identical calls that wait.
   */
  'calls'?: (number);
  /**
   * One sentence for each mask in the text: what it hides is a part of what runs. Also if the text is left out.
   */
  'hidden'?: (string)[];
}

export interface WaitingApproval__Output {
  'id': (string);
  'rule': (ApprovalRuleInfo__Output | null);
  /**
   * Project root.
   */
  'project': (string);
  'session': (string);
  /**
   * Empty: the base of the session.
   */
  'branch': (string);
  'tool': (string);
  /**
   * The directory in which the call was made.
   */
  'cwd': (string);
  /**
   * The input of the call, with its secrets masked: the words of a call with nothing else, otherwise JSON.
   */
  'text': (string);
  /**
   * The characters of the whole text. A list of several items may leave out a long text: ask for the one item.
   */
  'text_chars': (number);
  /**
   * True if the text could not be searched for secrets, and is therefore withheld.
   */
  'text_withheld': (boolean);
  /**
   * Milliseconds since the epoch.
   */
  'asked_ms': (number);
  /**
   * Identical calls that wait.
   */
  'calls': (number);
  /**
   * One sentence for each mask in the text: what it hides is a part of what runs. Also if the text is left out.
   */
  'hidden': (string)[];
}
