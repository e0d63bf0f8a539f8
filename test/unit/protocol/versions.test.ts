import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import protobuf from 'protobufjs';
import { expect, it } from 'vitest';
import { INPUT_MAX_BYTES, MESSAGE_MAX_BYTES } from '#src/core/limits.js';
import { DAEMON_DEFINITION } from '#src/protocol/generated/daemon-definition.js';
import { loadProtocol } from '#src/protocol/load.js';
import { PACKAGE_VERSION, PROTOCOL_VERSION } from '#src/protocol/versions.js';

const ROOT = join(import.meta.dirname, '../../..');

it('pins the versions: callers of other versions are refused', () => {
  expect(PROTOCOL_VERSION).toBe(2);
  expect(PACKAGE_VERSION).toBe(JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')).version);
});

it('leaves room beside the arguments for the rest of a message', () => {
  expect(MESSAGE_MAX_BYTES).toBe(33_554_432);
  expect(INPUT_MAX_BYTES).toBe(32_505_856);
});

it('API-1 the services have exactly these rpcs, and streams only answers that come in parts', () => {
  const { ToolService, ManagementService } = loadProtocol();
  expect(Object.keys(ToolService.service)).toEqual([
    'Execute',
    'ExecuteWithProgress',
    'GetSchema',
    'WatchTools',
    'ReportRefusal',
    'FollowServers',
    'Pass',
    'AnswerQuestion',
    'AnswerHook',
  ]);
  expect(Object.keys(ManagementService.service), 'a new rpc is listed here too').toEqual([
    'ServerStatus',
    'StopServer',
    'RestartServer',
    'RegisterProject',
    'UnregisterProject',
    'ListTools',
    'InstallTool',
    'AcceptTool',
    'RollbackTool',
    'RemoveTool',
    'RecordSettings',
    'TailAudit',
    'CopyState',
    'CheckHealth',
    'SessionSecrets',
    'RevealSecret',
    'AllowValue',
    'DisallowValue',
    'ListAllowedValues',
    'ListSessions',
    'ReadSession',
    'InspectSession',
    'ReplaySession',
    'EndSession',
    'ListCaches',
    'ClearCaches',
    'ListRunning',
    'KillRunning',
    'Stats',
    'ReviewRules',
    'ApproveRules',
    'RevokeRules',
    'ListQuarantine',
    'RestoreQuarantined',
    'RemoveQuarantined',
    'AcceptQuarantined',
    'RevokeAccepted',
    'SetToolchains',
    'ListToolchains',
    'SetHostNetwork',
    'ReadHostNetwork',
    'AllowPath',
    'DisallowPath',
    'ListPaths',
    'ReadCatalogue',
    'ListPorts',
    'OpenPort',
    'ChangeNetwork',
    'ListNetwork',
    'ListNetworkGroups',
    'ReadNetworkLog',
    'SetNetworkCredential',
    'RemoveNetworkCredentials',
    'ListNetworkCredentials',
    'SearchMemories',
    'ListMemories',
    'GetMemories',
    'AddMemories',
    'RateMemory',
    'ForgetMemories',
    'PromoteMemory',
    'ReportMemories',
    'LearnFromCalls',
    'ListLessons',
    'ListBranches',
    'PlanBranchFiles',
    'EndBranchFiles',
    'SyncMemories',
    'TakeHook',
    'ListUndo',
    'PlanUndo',
    'UndoChanges',
    'SaveCheckpoint',
    'ListCheckpoints',
    'ReadCheckpoint',
    'ExportCheckpoint',
    'ImportCheckpoint',
    'HttpStatus',
    'MakeHttpToken',
    'ListHttpTokens',
    'RevokeHttpToken',
    'ListApprovals',
    'AnswerApproval',
    'ListApprovalAnswers',
    'RemoveApprovalAnswer',
    'AddApprovalRule',
    'ListApprovalRules',
    'RemoveApprovalRule',
    'AddUpstream',
    'ListUpstreams',
    'RemoveUpstream',
    'RestartUpstream',
    'ReviewUpstream',
    'ApproveUpstream',
  ]);
  const methods = Object.entries({ ...ToolService.service, ...ManagementService.service });
  expect(methods.filter(([, { requestStream, responseStream }]) => requestStream || responseStream)).toEqual([
    ['ExecuteWithProgress', expect.objectContaining({ requestStream: false, responseStream: true })],
    ['FollowServers', expect.objectContaining({ requestStream: false, responseStream: true })],
    ['Pass', expect.objectContaining({ requestStream: false, responseStream: true })],
    ['InstallTool', expect.objectContaining({ requestStream: false, responseStream: true })],
  ]);
  expect(ToolService.service.Execute.path).toBe('/contextd.v1.ToolService/Execute');
});

it('issue 34 a field that adding a server and listing it share has the same type in both', () => {
  const root = protobuf.Root.fromJSON(JSON.parse(DAEMON_DEFINITION)).resolveAll();
  const [added, listed] = ['NewUpstream', 'UpstreamInfo'].map((name) => root.lookupType(`contextd.v1.${name}`).fields);
  const ofRequest = ['root', 'dry_run', 'catalog_json', 'directory'];
  expect(Object.keys(added ?? {}).filter((name) => listed?.[name] === undefined)).toEqual(ofRequest);
  const typeOf = ({ type, repeated }: protobuf.Field): string => `${repeated ? 'repeated ' : ''}${type}`;
  for (const [name, field] of Object.entries(added ?? {})) {
    const other = listed?.[name];
    // The values are in no answer.
    if (other !== undefined && name !== 'variables') expect([name, typeOf(other)]).toEqual([name, typeOf(field)]);
  }
});
