/** To the thread: output of the command, or the question what the terminal shows. */
export type TerminalRequest = { write: Uint8Array } | { show: number };

/** From the thread. `scrolledOff` is new text that does not change any more; `read` counts the bytes it is about. */
export type TerminalReply = { read: number; scrolledOff: string } | { show: number; screen: string };
