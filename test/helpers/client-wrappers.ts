/** As Codex 0.171.0 gives a command to its shell: it restores some variables, and replaces itself by a shell with the command. */
export function codexWrapped(command: string): string {
  const restored = (kind: string, name: string, at: number): string[] => [
    `if [ -n "\${__CODEX_SNAPSHOT_${kind}_SET_${at}}" ]; then`,
    `  if [ -z "\${${name}+x}" ] || [ "\${${name}-}" != "\${__CODEX_SNAPSHOT_${kind}_${at}}" ]; then export ${name}="\${__CODEX_SNAPSHOT_${kind}_${at}}"; else export ${name}; fi`,
    `else builtin unset ${name} 2>/dev/null || command unset ${name}; fi`,
    `builtin unset __CODEX_SNAPSHOT_${kind}_SET_${at} __CODEX_SNAPSHOT_${kind}_${at} 2>/dev/null || command unset __CODEX_SNAPSHOT_${kind}_SET_${at} __CODEX_SNAPSHOT_${kind}_${at}`,
  ];
  const kept = (kind: string, name: string, at: number): string[] => [
    `__CODEX_SNAPSHOT_${kind}_SET_${at}="\${${name}+x}"`,
    `__CODEX_SNAPSHOT_${kind}_${at}="\${${name}-}"`,
  ];
  return [
    ...kept('OVERRIDE', 'CODEX_VERSION', 0),
    ...kept('PROXY_OVERRIDE', 'ALL_PROXY', 0),
    `__CODEX_SNAPSHOT_PROXY_ENV_SET="\${CODEX_NETWORK_PROXY_ACTIVE+x}"`,
    '',
    "if . '/home/ann/.codex/shell_snapshots/01a2214f-efbf-7000.1795855216580930151.sh' >/dev/null 2>&1; then :; fi",
    '',
    ...restored('OVERRIDE', 'CODEX_VERSION', 0),
    `if [ -n "$__CODEX_SNAPSHOT_PROXY_ENV_SET" ] || [ -n "\${CODEX_NETWORK_PROXY_ACTIVE+x}" ]; then`,
    ...restored('PROXY_OVERRIDE', 'ALL_PROXY', 0),
    'fi',
    `if [ -n "\${PATH:-}" ]; then export PATH='/opt/codex/path':"$PATH"; else export PATH='/opt/codex/path'; fi`,
    '',
    `exec '/bin/bash' -c '${command.replaceAll("'", `'"'"'`)}'`,
  ].join('\n');
}

/** As Gemini CLI 0.61.0 gives a command to its shell. */
export function geminiWrapped(command: string): string {
  return [
    'shopt -u promptvars nullglob extglob nocaseglob dotglob; _bgpids_file=/tmp/gemini-shell-bWuQcs/bgpids.tmp',
    '(',
    `  trap 'jobs -p > "$_bgpids_file"' EXIT`,
    command,
    ')',
    '__code=$?',
    'exit $__code',
  ].join('\n');
}
