/** What a catalogue entry is. `internal` is a node that leads to others; resources and prompts are MCP's. */
export type ItemKind = 'tool' | 'agent' | 'skill' | 'internal' | 'resource' | 'prompt';

/** Anything that an agent can choose, as routing sees it: a tool of ours, an installed one, or one of an MCP server. */
export interface CatalogItem {
  /** Unique in its catalogue. Routing never takes it apart; order ties break by it. */
  id: string;
  kind: ItemKind;
  /** As its server names it; words are found in it at changes of case and at punctuation. */
  name: string;
  description: string;
  /** More text in which words are found, such as a manual. No card shows it. Default none. */
  details?: string;
  /** The group it is listed under, such as the server it comes from. May be empty. */
  namespace: string;
  tags: readonly string[];
  /** JSON Schema of its input. Routing reads names and descriptions of properties; cards never show it. */
  inputSchema?: Readonly<Record<string, unknown>>;
  /** Whether it may change something. Default false. */
  sideEffects?: boolean;
  /** Relative cost of a call, shown when above 0. Default 0. */
  costHint?: number;
}
