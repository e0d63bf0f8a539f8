/** The notifications of servers that clients get. The name of any other would pass unmasked. */
export const NOTICES: ReadonlySet<string> = new Set([
  'notifications/message',
  'notifications/progress',
  'notifications/resources/updated',
  'notifications/elicitation/complete',
  'notifications/tools/list_changed',
  'notifications/resources/list_changed',
  'notifications/prompts/list_changed',
]);

/** What `gateway.access` must let a caller use of a server to hear the notification from it; undefined for one that goes to all. */
export function capabilityOfNotice(method: string): 'logging' | 'resources' | 'prompts' | undefined {
  const [, of] = method.split('/');
  if (of === 'message') return 'logging';
  return of === 'resources' || of === 'prompts' ? of : undefined;
}
