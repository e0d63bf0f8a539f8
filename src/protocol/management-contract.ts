import type { handleUnaryCall } from '@grpc/grpc-js';
import type { JsonObject } from '../core/json.ts';
import type { InstallEvent, InstallRequest__Output as InstallRequest } from './generated/management.ts';
import type {
  ManagementServiceDefinition as Definition,
  ManagementServiceHandlers,
} from './generated/management-service.ts';
import type { CallableTools, SchemaResponse__Output as SchemaResponse } from './generated/tool.ts';

/** The generated handlers without their index signature, which would make every name a known one. */
type Handlers = {
  [Rpc in keyof ManagementServiceHandlers as string extends Rpc
    ? never
    : number extends Rpc
      ? never
      : Rpc]: ManagementServiceHandlers[Rpc];
};

/** The rpcs with one answer, as the .proto file spells them. */
type UnaryRpc = {
  [Rpc in keyof Handlers]: Handlers[Rpc] extends handleUnaryCall<infer _Request, infer _Answer> ? Rpc : never;
}[keyof Handlers];

/** The rpcs with one answer, as methods are spelled. */
export type RpcName = Uncapitalize<UnaryRpc>;

/** The request of each rpc, complete: absent fields have their default value. */
export type Requests = {
  [Rpc in UnaryRpc as Uncapitalize<Rpc>]: ReturnType<Definition[Rpc]['requestDeserialize']>;
};

type Answers = {
  [Rpc in UnaryRpc as Uncapitalize<Rpc>]: ReturnType<Definition[Rpc]['responseDeserialize']>;
};

export type RpcMethod<Name extends RpcName> = (request: Requests[Name]) => Promise<Answers[Name]>;

/** Spelled out, because TypeScript takes two instances of an alias with different names for different types. */
export type RpcMethods = { [Name in RpcName]: (request: Requests[Name]) => Promise<Answers[Name]> };

/** What a person does with `ctxd`, as it is recorded. */
export interface PersonAct {
  /** The command, such as `tool remove`. */
  command: string;
  /** Masked before it is written. */
  input: JsonObject;
  /** Absent: the project of the request, if it names one. */
  project?: string;
}

/** What a handler adds to the record of an act, once it knows. */
export interface ActNotes {
  project?: string;
  session?: string;
  /** Added to the input. */
  input?: JsonObject;
  files_changed?: { readonly ref: string; readonly count: number };
}

/** The record of the act that a handler carries out. */
export interface ActRecord {
  requestId: string;
  note(notes: ActNotes): void;
}

/** As RpcMethods, for the rpcs that add to the record of their act. */
export type RpcHandlers = {
  [Name in RpcName]: (request: Requests[Name], record: ActRecord) => Promise<Answers[Name]>;
};

/** A `vital` event is sent even if the caller does not keep up. */
export type SendInstallEvent = (event: InstallEvent, vital?: 'vital') => void;

/**
 * What a person may ask of the daemon: one method per rpc of ManagementService, and the schema of a tool. Requests and
 * answers are the messages of proto/contextd/v1/management.proto, whose comments say what each field means. They are
 * plain data, so the gRPC door, any other door and the client of `ctxd` share this contract. What an rpc needs and throws
 * is in MANAGEMENT_RPCS.
 */
export interface Management extends RpcMethods {
  /**
   * Fetches a tool, sends what it would change, and returns the last event when the project has it. Nothing of it is left
   * if the signal is aborted first. Throws what is wrong with the source or the tool.
   */
  installTool(request: InstallRequest, signal: AbortSignal, send: SendInstallEvent): Promise<InstallEvent>;
  /**
   * The version of the tool that the project at `root` accepted; of another, or of no project, any version. Throws
   * TOOL_NOT_FOUND. Open to the proxy too: it is an rpc of ToolService.
   */
  getSchema(tool: string, root: string): Promise<SchemaResponse>;
  /**
   * What a surface shows of the tools of the project, as soon as its version is another than the known one. Throws NOT_FOUND
   * for a project that is not registered, ARGS_INVALID for an unknown surface, and the reason of the signal when it aborts.
   * An rpc of ToolService too.
   */
  watchTools(watch: ToolWatch): Promise<CallableTools>;
}

export interface ToolWatch {
  root: string;
  /** The version of an earlier answer; "" for none. */
  knownVersion: string;
  /** "" for the one of the settings. */
  surface: string;
  signal: AbortSignal;
}
