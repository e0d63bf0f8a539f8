import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import protobuf from 'protobufjs';
import descriptor from 'protobufjs/ext/descriptor/index.js';

const ROOT = join(import.meta.dirname, '../..');
const FILES = ['host', 'plugin'] as const;
const ESCAPES: Readonly<Record<string, number>> = { n: 10, t: 9, r: 13, a: 7, b: 8, f: 12, v: 11, '"': 34, '\\': 92 };

/** Messages and services, as lines that begin with the name of what they belong to. */
export type Definitions = readonly string[];

/** What `proto/contextd/v1` defines for plugins. */
export function protoDefinitions(): Definitions {
  const root = new protobuf.Root();
  root.resolvePath = (_origin, target) => join(ROOT, 'proto', target);
  root.loadSync(
    FILES.map((name) => `contextd/v1/${name}.proto`),
    { keepCase: true },
  );
  root.resolveAll();
  return definitionsOf(root);
}

/** What the committed Go code defines: it holds the descriptor of each file that it was made from. */
export function goDefinitions(): Definitions {
  const lines = FILES.flatMap((name) => {
    const source = readFileSync(join(ROOT, 'sdk/go/contextdv1', `${name}.pb.go`), 'utf8');
    const [, literal = ''] = /_rawDesc = "" \+\n((?:\t".*"(?: \+)?\n)+)/.exec(source) ?? [];
    const { FileDescriptorProto } = descriptor;
    return describedIn(FileDescriptorProto.toObject(FileDescriptorProto.decode(bytesOf(literal))));
  });
  return lines.toSorted();
}

function describedIn(file: descriptor.IFileDescriptorProto): string[] {
  const space = `.${file.package}`;
  const services = (file.service ?? []).flatMap(({ name, method }) =>
    (method ?? []).map(
      (one) =>
        `${space}.${name} rpc ${one.name} ${one.clientStreaming === true}:${lastOf(one.inputType)} ${one.serverStreaming === true}:${lastOf(one.outputType)}`,
    ),
  );
  return [...messagesIn(space, file.messageType), ...enumsIn(space, file.enumType), ...services];
}

function messagesIn(space: string, messages: descriptor.IDescriptorProto[] = []): string[] {
  return messages.flatMap((message) => {
    const name = `${space}.${message.name}`;
    const fields = (message.field ?? []).map(
      (field) => `${name} ${field.number} ${field.name} ${describedKind(field, message)} ${oneofOf(field, message)}`,
    );
    const nested = message.nestedType?.filter(({ options }) => options?.mapEntry !== true);
    return [...fields, ...messagesIn(name, nested), ...enumsIn(name, message.enumType)];
  });
}

function enumsIn(space: string, enums: descriptor.IEnumDescriptorProto[] = []): string[] {
  return enums.map(({ name, value }) => {
    const values = (value ?? []).map((one) => [one.name, one.number]);
    return `${space}.${name} ${JSON.stringify(Object.fromEntries(values))}`;
  });
}

function oneofOf(field: descriptor.IFieldDescriptorProto, message: descriptor.IDescriptorProto): string | undefined {
  return Object.hasOwn(field, 'oneofIndex') ? message.oneofDecl?.[field.oneofIndex ?? 0]?.name : undefined;
}

function describedKind(field: descriptor.IFieldDescriptorProto, message: descriptor.IDescriptorProto): string {
  const entry = message.nestedType?.find(
    ({ name, options }) => options?.mapEntry === true && name === lastOf(field.typeName),
  );
  const [key, value] = entry?.field ?? [];
  if (key !== undefined && value !== undefined) return `map ${typeOf(key)} ${typeOf(value)}`;
  return `${field.label === REPEATED ? 'repeated ' : ''}${typeOf(field)}`;
}

const TYPES = descriptor.FieldDescriptorProto.lookupEnum('Type').valuesById;
const REPEATED = descriptor.FieldDescriptorProto.lookupEnum('Label').values.LABEL_REPEATED;

function typeOf({ type, typeName }: descriptor.IFieldDescriptorProto): string {
  if (typeName !== undefined && typeName !== '') return lastOf(typeName);
  return (TYPES[type ?? 0] ?? '').replace('TYPE_', '').toLowerCase();
}

/** The bytes of a literal of Go in several lines. */
function bytesOf(literal: string): Buffer {
  const parts = literal.split('\n').map((line) => /^\t"(.*)"/.exec(line)?.[1] ?? '');
  const tokens = parts.join('').matchAll(/\\x([0-9a-f]{2})|\\([0-7]{3})|\\u([0-9a-f]{4})|\\(.)|([^\\]+)/g);
  return Buffer.concat(
    [...tokens].map(([, hex, octal, point, short, text]) => {
      if (hex !== undefined) return Buffer.from([Number.parseInt(hex, 16)]);
      if (octal !== undefined) return Buffer.from([Number.parseInt(octal, 8)]);
      if (point !== undefined) return Buffer.from(String.fromCharCode(Number.parseInt(point, 16)));
      return short === undefined ? Buffer.from(text ?? '') : Buffer.from([ESCAPES[short] ?? 0]);
    }),
  );
}

function definitionsOf(root: protobuf.Root): Definitions {
  const lines: string[] = [];
  const visit = (space: protobuf.NamespaceBase): void => {
    const name = space.fullName;
    if (space instanceof protobuf.Service)
      for (const method of space.methodsArray)
        lines.push(
          `${name} rpc ${method.name} ${method.requestStream === true}:${lastOf(method.requestType)} ${method.responseStream === true}:${lastOf(method.responseType)}`,
        );
    if (space instanceof protobuf.Type)
      for (const field of space.fieldsArray)
        lines.push(`${name} ${field.id} ${field.name} ${kindOf(field)} ${field.partOf?.name}`);
    for (const nested of space.nestedArray) {
      if (nested instanceof protobuf.Enum) lines.push(`${nested.fullName} ${JSON.stringify(nested.values)}`);
      else if (nested instanceof protobuf.Namespace) visit(nested);
    }
  };
  visit(root);
  return lines.toSorted();
}

const lastOf = (type = ''): string => type.split('.').at(-1) ?? type;

function kindOf(field: protobuf.Field): string {
  if (field instanceof protobuf.MapField) return `map ${field.keyType} ${lastOf(field.type)}`;
  return `${field.repeated ? 'repeated ' : ''}${lastOf(field.type)}`;
}
