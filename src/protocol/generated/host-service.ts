// Original file: proto/contextd/v1/host.proto

import type * as grpc from '@grpc/grpc-js';
import type { MessageTypeDefinition, MethodDefinition } from '@grpc/proto-loader';
import type { ExecRequest as _contextd_v1_ExecRequest, ExecRequest__Output as _contextd_v1_ExecRequest__Output, ExecResponse as _contextd_v1_ExecResponse, ExecResponse__Output as _contextd_v1_ExecResponse__Output, HostRequest as _contextd_v1_HostRequest, HostRequest__Output as _contextd_v1_HostRequest__Output, HostResponse as _contextd_v1_HostResponse, HostResponse__Output as _contextd_v1_HostResponse__Output, LogRequest as _contextd_v1_LogRequest, LogRequest__Output as _contextd_v1_LogRequest__Output, LogResponse as _contextd_v1_LogResponse, LogResponse__Output as _contextd_v1_LogResponse__Output, OutputGap as _contextd_v1_OutputGap, OutputGap__Output as _contextd_v1_OutputGap__Output, ScrubRequest as _contextd_v1_ScrubRequest, ScrubRequest__Output as _contextd_v1_ScrubRequest__Output, ScrubResponse as _contextd_v1_ScrubResponse, ScrubResponse__Output as _contextd_v1_ScrubResponse__Output } from './host.ts';

/**
 * The daemon serves ToolHost to a tool's process through go-plugin's broker. Every request names the call it
 * belongs to. A method that tool.json does not grant answers PERMISSION_DENIED; faults carry the code of
 * docs/errors.md in the trailer `contextd-code`.
 */
export interface ToolHostClient extends grpc.Client {
  ArtifactView(argument: _contextd_v1_HostRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_HostResponse__Output>): grpc.ClientUnaryCall;
  ArtifactView(argument: _contextd_v1_HostRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_contextd_v1_HostResponse__Output>): grpc.ClientUnaryCall;
  ArtifactView(argument: _contextd_v1_HostRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_HostResponse__Output>): grpc.ClientUnaryCall;
  ArtifactView(argument: _contextd_v1_HostRequest, callback: grpc.requestCallback<_contextd_v1_HostResponse__Output>): grpc.ClientUnaryCall;
  artifactView(argument: _contextd_v1_HostRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_HostResponse__Output>): grpc.ClientUnaryCall;
  artifactView(argument: _contextd_v1_HostRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_contextd_v1_HostResponse__Output>): grpc.ClientUnaryCall;
  artifactView(argument: _contextd_v1_HostRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_HostResponse__Output>): grpc.ClientUnaryCall;
  artifactView(argument: _contextd_v1_HostRequest, callback: grpc.requestCallback<_contextd_v1_HostResponse__Output>): grpc.ClientUnaryCall;

  BranchOpen(argument: _contextd_v1_HostRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_HostResponse__Output>): grpc.ClientUnaryCall;
  BranchOpen(argument: _contextd_v1_HostRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_contextd_v1_HostResponse__Output>): grpc.ClientUnaryCall;
  BranchOpen(argument: _contextd_v1_HostRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_HostResponse__Output>): grpc.ClientUnaryCall;
  BranchOpen(argument: _contextd_v1_HostRequest, callback: grpc.requestCallback<_contextd_v1_HostResponse__Output>): grpc.ClientUnaryCall;
  branchOpen(argument: _contextd_v1_HostRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_HostResponse__Output>): grpc.ClientUnaryCall;
  branchOpen(argument: _contextd_v1_HostRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_contextd_v1_HostResponse__Output>): grpc.ClientUnaryCall;
  branchOpen(argument: _contextd_v1_HostRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_HostResponse__Output>): grpc.ClientUnaryCall;
  branchOpen(argument: _contextd_v1_HostRequest, callback: grpc.requestCallback<_contextd_v1_HostResponse__Output>): grpc.ClientUnaryCall;

  BranchReturn(argument: _contextd_v1_HostRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_HostResponse__Output>): grpc.ClientUnaryCall;
  BranchReturn(argument: _contextd_v1_HostRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_contextd_v1_HostResponse__Output>): grpc.ClientUnaryCall;
  BranchReturn(argument: _contextd_v1_HostRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_HostResponse__Output>): grpc.ClientUnaryCall;
  BranchReturn(argument: _contextd_v1_HostRequest, callback: grpc.requestCallback<_contextd_v1_HostResponse__Output>): grpc.ClientUnaryCall;
  branchReturn(argument: _contextd_v1_HostRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_HostResponse__Output>): grpc.ClientUnaryCall;
  branchReturn(argument: _contextd_v1_HostRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_contextd_v1_HostResponse__Output>): grpc.ClientUnaryCall;
  branchReturn(argument: _contextd_v1_HostRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_HostResponse__Output>): grpc.ClientUnaryCall;
  branchReturn(argument: _contextd_v1_HostRequest, callback: grpc.requestCallback<_contextd_v1_HostResponse__Output>): grpc.ClientUnaryCall;

  CheckpointList(argument: _contextd_v1_HostRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_HostResponse__Output>): grpc.ClientUnaryCall;
  CheckpointList(argument: _contextd_v1_HostRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_contextd_v1_HostResponse__Output>): grpc.ClientUnaryCall;
  CheckpointList(argument: _contextd_v1_HostRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_HostResponse__Output>): grpc.ClientUnaryCall;
  CheckpointList(argument: _contextd_v1_HostRequest, callback: grpc.requestCallback<_contextd_v1_HostResponse__Output>): grpc.ClientUnaryCall;
  checkpointList(argument: _contextd_v1_HostRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_HostResponse__Output>): grpc.ClientUnaryCall;
  checkpointList(argument: _contextd_v1_HostRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_contextd_v1_HostResponse__Output>): grpc.ClientUnaryCall;
  checkpointList(argument: _contextd_v1_HostRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_HostResponse__Output>): grpc.ClientUnaryCall;
  checkpointList(argument: _contextd_v1_HostRequest, callback: grpc.requestCallback<_contextd_v1_HostResponse__Output>): grpc.ClientUnaryCall;

  /**
   * CheckpointRestore restores a saved session. Grant: checkpoint_restore.
   */
  CheckpointRestore(argument: _contextd_v1_HostRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_HostResponse__Output>): grpc.ClientUnaryCall;
  CheckpointRestore(argument: _contextd_v1_HostRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_contextd_v1_HostResponse__Output>): grpc.ClientUnaryCall;
  CheckpointRestore(argument: _contextd_v1_HostRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_HostResponse__Output>): grpc.ClientUnaryCall;
  CheckpointRestore(argument: _contextd_v1_HostRequest, callback: grpc.requestCallback<_contextd_v1_HostResponse__Output>): grpc.ClientUnaryCall;
  /**
   * CheckpointRestore restores a saved session. Grant: checkpoint_restore.
   */
  checkpointRestore(argument: _contextd_v1_HostRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_HostResponse__Output>): grpc.ClientUnaryCall;
  checkpointRestore(argument: _contextd_v1_HostRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_contextd_v1_HostResponse__Output>): grpc.ClientUnaryCall;
  checkpointRestore(argument: _contextd_v1_HostRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_HostResponse__Output>): grpc.ClientUnaryCall;
  checkpointRestore(argument: _contextd_v1_HostRequest, callback: grpc.requestCallback<_contextd_v1_HostResponse__Output>): grpc.ClientUnaryCall;

  /**
   * CheckpointSave saves the session. Grant: checkpoint_save.
   */
  CheckpointSave(argument: _contextd_v1_HostRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_HostResponse__Output>): grpc.ClientUnaryCall;
  CheckpointSave(argument: _contextd_v1_HostRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_contextd_v1_HostResponse__Output>): grpc.ClientUnaryCall;
  CheckpointSave(argument: _contextd_v1_HostRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_HostResponse__Output>): grpc.ClientUnaryCall;
  CheckpointSave(argument: _contextd_v1_HostRequest, callback: grpc.requestCallback<_contextd_v1_HostResponse__Output>): grpc.ClientUnaryCall;
  /**
   * CheckpointSave saves the session. Grant: checkpoint_save.
   */
  checkpointSave(argument: _contextd_v1_HostRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_HostResponse__Output>): grpc.ClientUnaryCall;
  checkpointSave(argument: _contextd_v1_HostRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_contextd_v1_HostResponse__Output>): grpc.ClientUnaryCall;
  checkpointSave(argument: _contextd_v1_HostRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_HostResponse__Output>): grpc.ClientUnaryCall;
  checkpointSave(argument: _contextd_v1_HostRequest, callback: grpc.requestCallback<_contextd_v1_HostResponse__Output>): grpc.ClientUnaryCall;

  /**
   * Exec runs a shell command in a sandbox of its own, until the deadline of the call. Grant: exec.
   */
  Exec(argument: _contextd_v1_ExecRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_ExecResponse__Output>): grpc.ClientUnaryCall;
  Exec(argument: _contextd_v1_ExecRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_contextd_v1_ExecResponse__Output>): grpc.ClientUnaryCall;
  Exec(argument: _contextd_v1_ExecRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_ExecResponse__Output>): grpc.ClientUnaryCall;
  Exec(argument: _contextd_v1_ExecRequest, callback: grpc.requestCallback<_contextd_v1_ExecResponse__Output>): grpc.ClientUnaryCall;
  /**
   * Exec runs a shell command in a sandbox of its own, until the deadline of the call. Grant: exec.
   */
  exec(argument: _contextd_v1_ExecRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_ExecResponse__Output>): grpc.ClientUnaryCall;
  exec(argument: _contextd_v1_ExecRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_contextd_v1_ExecResponse__Output>): grpc.ClientUnaryCall;
  exec(argument: _contextd_v1_ExecRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_ExecResponse__Output>): grpc.ClientUnaryCall;
  exec(argument: _contextd_v1_ExecRequest, callback: grpc.requestCallback<_contextd_v1_ExecResponse__Output>): grpc.ClientUnaryCall;

  /**
   * JobStart starts a command that outlives the call; Jobs lists, shows and steers the jobs of the session.
   */
  JobStart(argument: _contextd_v1_HostRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_HostResponse__Output>): grpc.ClientUnaryCall;
  JobStart(argument: _contextd_v1_HostRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_contextd_v1_HostResponse__Output>): grpc.ClientUnaryCall;
  JobStart(argument: _contextd_v1_HostRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_HostResponse__Output>): grpc.ClientUnaryCall;
  JobStart(argument: _contextd_v1_HostRequest, callback: grpc.requestCallback<_contextd_v1_HostResponse__Output>): grpc.ClientUnaryCall;
  /**
   * JobStart starts a command that outlives the call; Jobs lists, shows and steers the jobs of the session.
   */
  jobStart(argument: _contextd_v1_HostRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_HostResponse__Output>): grpc.ClientUnaryCall;
  jobStart(argument: _contextd_v1_HostRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_contextd_v1_HostResponse__Output>): grpc.ClientUnaryCall;
  jobStart(argument: _contextd_v1_HostRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_HostResponse__Output>): grpc.ClientUnaryCall;
  jobStart(argument: _contextd_v1_HostRequest, callback: grpc.requestCallback<_contextd_v1_HostResponse__Output>): grpc.ClientUnaryCall;

  Jobs(argument: _contextd_v1_HostRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_HostResponse__Output>): grpc.ClientUnaryCall;
  Jobs(argument: _contextd_v1_HostRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_contextd_v1_HostResponse__Output>): grpc.ClientUnaryCall;
  Jobs(argument: _contextd_v1_HostRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_HostResponse__Output>): grpc.ClientUnaryCall;
  Jobs(argument: _contextd_v1_HostRequest, callback: grpc.requestCallback<_contextd_v1_HostResponse__Output>): grpc.ClientUnaryCall;
  jobs(argument: _contextd_v1_HostRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_HostResponse__Output>): grpc.ClientUnaryCall;
  jobs(argument: _contextd_v1_HostRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_contextd_v1_HostResponse__Output>): grpc.ClientUnaryCall;
  jobs(argument: _contextd_v1_HostRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_HostResponse__Output>): grpc.ClientUnaryCall;
  jobs(argument: _contextd_v1_HostRequest, callback: grpc.requestCallback<_contextd_v1_HostResponse__Output>): grpc.ClientUnaryCall;

  /**
   * Log writes a masked line to the daemon's log. Grant: log.
   */
  Log(argument: _contextd_v1_LogRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_LogResponse__Output>): grpc.ClientUnaryCall;
  Log(argument: _contextd_v1_LogRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_contextd_v1_LogResponse__Output>): grpc.ClientUnaryCall;
  Log(argument: _contextd_v1_LogRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_LogResponse__Output>): grpc.ClientUnaryCall;
  Log(argument: _contextd_v1_LogRequest, callback: grpc.requestCallback<_contextd_v1_LogResponse__Output>): grpc.ClientUnaryCall;
  /**
   * Log writes a masked line to the daemon's log. Grant: log.
   */
  log(argument: _contextd_v1_LogRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_LogResponse__Output>): grpc.ClientUnaryCall;
  log(argument: _contextd_v1_LogRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_contextd_v1_LogResponse__Output>): grpc.ClientUnaryCall;
  log(argument: _contextd_v1_LogRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_LogResponse__Output>): grpc.ClientUnaryCall;
  log(argument: _contextd_v1_LogRequest, callback: grpc.requestCallback<_contextd_v1_LogResponse__Output>): grpc.ClientUnaryCall;

  MemoryFeedback(argument: _contextd_v1_HostRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_HostResponse__Output>): grpc.ClientUnaryCall;
  MemoryFeedback(argument: _contextd_v1_HostRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_contextd_v1_HostResponse__Output>): grpc.ClientUnaryCall;
  MemoryFeedback(argument: _contextd_v1_HostRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_HostResponse__Output>): grpc.ClientUnaryCall;
  MemoryFeedback(argument: _contextd_v1_HostRequest, callback: grpc.requestCallback<_contextd_v1_HostResponse__Output>): grpc.ClientUnaryCall;
  memoryFeedback(argument: _contextd_v1_HostRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_HostResponse__Output>): grpc.ClientUnaryCall;
  memoryFeedback(argument: _contextd_v1_HostRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_contextd_v1_HostResponse__Output>): grpc.ClientUnaryCall;
  memoryFeedback(argument: _contextd_v1_HostRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_HostResponse__Output>): grpc.ClientUnaryCall;
  memoryFeedback(argument: _contextd_v1_HostRequest, callback: grpc.requestCallback<_contextd_v1_HostResponse__Output>): grpc.ClientUnaryCall;

  MemoryGet(argument: _contextd_v1_HostRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_HostResponse__Output>): grpc.ClientUnaryCall;
  MemoryGet(argument: _contextd_v1_HostRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_contextd_v1_HostResponse__Output>): grpc.ClientUnaryCall;
  MemoryGet(argument: _contextd_v1_HostRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_HostResponse__Output>): grpc.ClientUnaryCall;
  MemoryGet(argument: _contextd_v1_HostRequest, callback: grpc.requestCallback<_contextd_v1_HostResponse__Output>): grpc.ClientUnaryCall;
  memoryGet(argument: _contextd_v1_HostRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_HostResponse__Output>): grpc.ClientUnaryCall;
  memoryGet(argument: _contextd_v1_HostRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_contextd_v1_HostResponse__Output>): grpc.ClientUnaryCall;
  memoryGet(argument: _contextd_v1_HostRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_HostResponse__Output>): grpc.ClientUnaryCall;
  memoryGet(argument: _contextd_v1_HostRequest, callback: grpc.requestCallback<_contextd_v1_HostResponse__Output>): grpc.ClientUnaryCall;

  /**
   * MemorySearch finds memories by meaning. Grant: memory_search.
   */
  MemorySearch(argument: _contextd_v1_HostRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_HostResponse__Output>): grpc.ClientUnaryCall;
  MemorySearch(argument: _contextd_v1_HostRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_contextd_v1_HostResponse__Output>): grpc.ClientUnaryCall;
  MemorySearch(argument: _contextd_v1_HostRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_HostResponse__Output>): grpc.ClientUnaryCall;
  MemorySearch(argument: _contextd_v1_HostRequest, callback: grpc.requestCallback<_contextd_v1_HostResponse__Output>): grpc.ClientUnaryCall;
  /**
   * MemorySearch finds memories by meaning. Grant: memory_search.
   */
  memorySearch(argument: _contextd_v1_HostRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_HostResponse__Output>): grpc.ClientUnaryCall;
  memorySearch(argument: _contextd_v1_HostRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_contextd_v1_HostResponse__Output>): grpc.ClientUnaryCall;
  memorySearch(argument: _contextd_v1_HostRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_HostResponse__Output>): grpc.ClientUnaryCall;
  memorySearch(argument: _contextd_v1_HostRequest, callback: grpc.requestCallback<_contextd_v1_HostResponse__Output>): grpc.ClientUnaryCall;

  /**
   * MemoryStore stores a memory. Grant: memory_store.
   */
  MemoryStore(argument: _contextd_v1_HostRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_HostResponse__Output>): grpc.ClientUnaryCall;
  MemoryStore(argument: _contextd_v1_HostRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_contextd_v1_HostResponse__Output>): grpc.ClientUnaryCall;
  MemoryStore(argument: _contextd_v1_HostRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_HostResponse__Output>): grpc.ClientUnaryCall;
  MemoryStore(argument: _contextd_v1_HostRequest, callback: grpc.requestCallback<_contextd_v1_HostResponse__Output>): grpc.ClientUnaryCall;
  /**
   * MemoryStore stores a memory. Grant: memory_store.
   */
  memoryStore(argument: _contextd_v1_HostRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_HostResponse__Output>): grpc.ClientUnaryCall;
  memoryStore(argument: _contextd_v1_HostRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_contextd_v1_HostResponse__Output>): grpc.ClientUnaryCall;
  memoryStore(argument: _contextd_v1_HostRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_HostResponse__Output>): grpc.ClientUnaryCall;
  memoryStore(argument: _contextd_v1_HostRequest, callback: grpc.requestCallback<_contextd_v1_HostResponse__Output>): grpc.ClientUnaryCall;

  /**
   * Scrub replaces what looks like a secret by the session's tokens. Grant: scrub.
   */
  Scrub(argument: _contextd_v1_ScrubRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_ScrubResponse__Output>): grpc.ClientUnaryCall;
  Scrub(argument: _contextd_v1_ScrubRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_contextd_v1_ScrubResponse__Output>): grpc.ClientUnaryCall;
  Scrub(argument: _contextd_v1_ScrubRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_ScrubResponse__Output>): grpc.ClientUnaryCall;
  Scrub(argument: _contextd_v1_ScrubRequest, callback: grpc.requestCallback<_contextd_v1_ScrubResponse__Output>): grpc.ClientUnaryCall;
  /**
   * Scrub replaces what looks like a secret by the session's tokens. Grant: scrub.
   */
  scrub(argument: _contextd_v1_ScrubRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_ScrubResponse__Output>): grpc.ClientUnaryCall;
  scrub(argument: _contextd_v1_ScrubRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_contextd_v1_ScrubResponse__Output>): grpc.ClientUnaryCall;
  scrub(argument: _contextd_v1_ScrubRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_ScrubResponse__Output>): grpc.ClientUnaryCall;
  scrub(argument: _contextd_v1_ScrubRequest, callback: grpc.requestCallback<_contextd_v1_ScrubResponse__Output>): grpc.ClientUnaryCall;

  SessionInit(argument: _contextd_v1_HostRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_HostResponse__Output>): grpc.ClientUnaryCall;
  SessionInit(argument: _contextd_v1_HostRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_contextd_v1_HostResponse__Output>): grpc.ClientUnaryCall;
  SessionInit(argument: _contextd_v1_HostRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_HostResponse__Output>): grpc.ClientUnaryCall;
  SessionInit(argument: _contextd_v1_HostRequest, callback: grpc.requestCallback<_contextd_v1_HostResponse__Output>): grpc.ClientUnaryCall;
  sessionInit(argument: _contextd_v1_HostRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_HostResponse__Output>): grpc.ClientUnaryCall;
  sessionInit(argument: _contextd_v1_HostRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_contextd_v1_HostResponse__Output>): grpc.ClientUnaryCall;
  sessionInit(argument: _contextd_v1_HostRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_contextd_v1_HostResponse__Output>): grpc.ClientUnaryCall;
  sessionInit(argument: _contextd_v1_HostRequest, callback: grpc.requestCallback<_contextd_v1_HostResponse__Output>): grpc.ClientUnaryCall;

}

/**
 * The daemon serves ToolHost to a tool's process through go-plugin's broker. Every request names the call it
 * belongs to. A method that tool.json does not grant answers PERMISSION_DENIED; faults carry the code of
 * docs/errors.md in the trailer `contextd-code`.
 */
export interface ToolHostHandlers extends grpc.UntypedServiceImplementation {
  ArtifactView: grpc.handleUnaryCall<_contextd_v1_HostRequest__Output, _contextd_v1_HostResponse>;

  BranchOpen: grpc.handleUnaryCall<_contextd_v1_HostRequest__Output, _contextd_v1_HostResponse>;

  BranchReturn: grpc.handleUnaryCall<_contextd_v1_HostRequest__Output, _contextd_v1_HostResponse>;

  CheckpointList: grpc.handleUnaryCall<_contextd_v1_HostRequest__Output, _contextd_v1_HostResponse>;

  /**
   * CheckpointRestore restores a saved session. Grant: checkpoint_restore.
   */
  CheckpointRestore: grpc.handleUnaryCall<_contextd_v1_HostRequest__Output, _contextd_v1_HostResponse>;

  /**
   * CheckpointSave saves the session. Grant: checkpoint_save.
   */
  CheckpointSave: grpc.handleUnaryCall<_contextd_v1_HostRequest__Output, _contextd_v1_HostResponse>;

  /**
   * Exec runs a shell command in a sandbox of its own, until the deadline of the call. Grant: exec.
   */
  Exec: grpc.handleUnaryCall<_contextd_v1_ExecRequest__Output, _contextd_v1_ExecResponse>;

  /**
   * JobStart starts a command that outlives the call; Jobs lists, shows and steers the jobs of the session.
   */
  JobStart: grpc.handleUnaryCall<_contextd_v1_HostRequest__Output, _contextd_v1_HostResponse>;

  Jobs: grpc.handleUnaryCall<_contextd_v1_HostRequest__Output, _contextd_v1_HostResponse>;

  /**
   * Log writes a masked line to the daemon's log. Grant: log.
   */
  Log: grpc.handleUnaryCall<_contextd_v1_LogRequest__Output, _contextd_v1_LogResponse>;

  MemoryFeedback: grpc.handleUnaryCall<_contextd_v1_HostRequest__Output, _contextd_v1_HostResponse>;

  MemoryGet: grpc.handleUnaryCall<_contextd_v1_HostRequest__Output, _contextd_v1_HostResponse>;

  /**
   * MemorySearch finds memories by meaning. Grant: memory_search.
   */
  MemorySearch: grpc.handleUnaryCall<_contextd_v1_HostRequest__Output, _contextd_v1_HostResponse>;

  /**
   * MemoryStore stores a memory. Grant: memory_store.
   */
  MemoryStore: grpc.handleUnaryCall<_contextd_v1_HostRequest__Output, _contextd_v1_HostResponse>;

  /**
   * Scrub replaces what looks like a secret by the session's tokens. Grant: scrub.
   */
  Scrub: grpc.handleUnaryCall<_contextd_v1_ScrubRequest__Output, _contextd_v1_ScrubResponse>;

  SessionInit: grpc.handleUnaryCall<_contextd_v1_HostRequest__Output, _contextd_v1_HostResponse>;

}

export interface ToolHostDefinition extends grpc.ServiceDefinition {
  ArtifactView: MethodDefinition<_contextd_v1_HostRequest, _contextd_v1_HostResponse, _contextd_v1_HostRequest__Output, _contextd_v1_HostResponse__Output>
  BranchOpen: MethodDefinition<_contextd_v1_HostRequest, _contextd_v1_HostResponse, _contextd_v1_HostRequest__Output, _contextd_v1_HostResponse__Output>
  BranchReturn: MethodDefinition<_contextd_v1_HostRequest, _contextd_v1_HostResponse, _contextd_v1_HostRequest__Output, _contextd_v1_HostResponse__Output>
  CheckpointList: MethodDefinition<_contextd_v1_HostRequest, _contextd_v1_HostResponse, _contextd_v1_HostRequest__Output, _contextd_v1_HostResponse__Output>
  CheckpointRestore: MethodDefinition<_contextd_v1_HostRequest, _contextd_v1_HostResponse, _contextd_v1_HostRequest__Output, _contextd_v1_HostResponse__Output>
  CheckpointSave: MethodDefinition<_contextd_v1_HostRequest, _contextd_v1_HostResponse, _contextd_v1_HostRequest__Output, _contextd_v1_HostResponse__Output>
  Exec: MethodDefinition<_contextd_v1_ExecRequest, _contextd_v1_ExecResponse, _contextd_v1_ExecRequest__Output, _contextd_v1_ExecResponse__Output>
  JobStart: MethodDefinition<_contextd_v1_HostRequest, _contextd_v1_HostResponse, _contextd_v1_HostRequest__Output, _contextd_v1_HostResponse__Output>
  Jobs: MethodDefinition<_contextd_v1_HostRequest, _contextd_v1_HostResponse, _contextd_v1_HostRequest__Output, _contextd_v1_HostResponse__Output>
  Log: MethodDefinition<_contextd_v1_LogRequest, _contextd_v1_LogResponse, _contextd_v1_LogRequest__Output, _contextd_v1_LogResponse__Output>
  MemoryFeedback: MethodDefinition<_contextd_v1_HostRequest, _contextd_v1_HostResponse, _contextd_v1_HostRequest__Output, _contextd_v1_HostResponse__Output>
  MemoryGet: MethodDefinition<_contextd_v1_HostRequest, _contextd_v1_HostResponse, _contextd_v1_HostRequest__Output, _contextd_v1_HostResponse__Output>
  MemorySearch: MethodDefinition<_contextd_v1_HostRequest, _contextd_v1_HostResponse, _contextd_v1_HostRequest__Output, _contextd_v1_HostResponse__Output>
  MemoryStore: MethodDefinition<_contextd_v1_HostRequest, _contextd_v1_HostResponse, _contextd_v1_HostRequest__Output, _contextd_v1_HostResponse__Output>
  Scrub: MethodDefinition<_contextd_v1_ScrubRequest, _contextd_v1_ScrubResponse, _contextd_v1_ScrubRequest__Output, _contextd_v1_ScrubResponse__Output>
  SessionInit: MethodDefinition<_contextd_v1_HostRequest, _contextd_v1_HostResponse, _contextd_v1_HostRequest__Output, _contextd_v1_HostResponse__Output>
}

type SubtypeConstructor<Constructor extends new (...args: any) => any, Subtype> = {
  new(...args: ConstructorParameters<Constructor>): Subtype;
};

export interface ProtoGrpcType {
  contextd: {
    v1: {
      ExecRequest: MessageTypeDefinition<_contextd_v1_ExecRequest, _contextd_v1_ExecRequest__Output>
      ExecResponse: MessageTypeDefinition<_contextd_v1_ExecResponse, _contextd_v1_ExecResponse__Output>
      HostRequest: MessageTypeDefinition<_contextd_v1_HostRequest, _contextd_v1_HostRequest__Output>
      HostResponse: MessageTypeDefinition<_contextd_v1_HostResponse, _contextd_v1_HostResponse__Output>
      LogRequest: MessageTypeDefinition<_contextd_v1_LogRequest, _contextd_v1_LogRequest__Output>
      LogResponse: MessageTypeDefinition<_contextd_v1_LogResponse, _contextd_v1_LogResponse__Output>
      OutputGap: MessageTypeDefinition<_contextd_v1_OutputGap, _contextd_v1_OutputGap__Output>
      ScrubRequest: MessageTypeDefinition<_contextd_v1_ScrubRequest, _contextd_v1_ScrubRequest__Output>
      ScrubResponse: MessageTypeDefinition<_contextd_v1_ScrubResponse, _contextd_v1_ScrubResponse__Output>
      /**
       * The daemon serves ToolHost to a tool's process through go-plugin's broker. Every request names the call it
       * belongs to. A method that tool.json does not grant answers PERMISSION_DENIED; faults carry the code of
       * docs/errors.md in the trailer `contextd-code`.
       */
      ToolHost: SubtypeConstructor<typeof grpc.Client, ToolHostClient> & { service: ToolHostDefinition }
    }
  }
}
