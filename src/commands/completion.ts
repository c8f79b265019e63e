/** Shell completion, made from the commands themselves, so that it never lacks one. */

/** A command as completion offers it. */
export interface Offered {
  readonly name: string
  readonly description: string
  /** Its long options, with what they choose from; empty: anything. */
  readonly options: readonly {
    readonly flag: string
    readonly description: string
    readonly choices: readonly string[]
  }[]
}

export const shells = ['bash', 'zsh', 'fish'] as const
export type Shell = (typeof shells)[number]

/** The script that a shell loads. `program`: what stands before any command. */
export function completionFor(shell: Shell, program: Offered, commands: readonly Offered[]): string {
  return { bash, zsh, fish }[shell](program, commands)
}

const words = (list: readonly string[]): string => list.join(' ')
const flags = ({ options }: Offered): string[] => options.map(({ flag }) => flag)
/** In single quotes no shell sees anything but a quote. */
const quoted = (text: string): string => `'${text.replaceAll("'", String.raw`'\''`)}'`

function bash(program: Offered, commands: readonly Offered[]): string {
  const names = commands.map(({ name }) => name)
  const cases = commands.map(
    (command) => `    ${command.name}) words="${words([...flags(command), ...flags(program)])}" ;;`,
  )
  const values = (command: Offered, pattern: string): string[] =>
    command.options
      .filter(({ choices }) => choices.length > 0)
      .map(
        ({ flag, choices }) =>
          `    ${pattern}\\ ${flag}) COMPREPLY=($(compgen -W "${words(choices)}" -- "$current")); return ;;`,
      )
  return `# listing-sync for bash: source <(listing-sync completion bash)
_listing_sync() {
  local current="\${COMP_WORDS[COMP_CWORD]}" before="\${COMP_WORDS[COMP_CWORD-1]}" command="" word words=""
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case "$word" in ${names.join('|')}) command="$word"; break ;; esac
  done
  case "$command $before" in
${[...values(program, '*'), ...commands.flatMap((command) => values(command, command.name))].join('\n')}
    *\\ --config|*\\ --out) COMPREPLY=($(compgen -f -- "$current")); return ;;
  esac
  case "$command" in
    "") words="${words([...names, ...flags(program)])}" ;;
${cases.join('\n')}
  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -o default -F _listing_sync listing-sync
`
}

function zsh(program: Offered, commands: readonly Offered[]): string {
  const offered = (command: Offered): string[] =>
    [...command.options, ...program.options].map(({ flag, description, choices }) => {
      const help = description.replaceAll(/[[\]:\\]/g, String.raw`\$&`)
      return quoted(choices.length > 0 ? `${flag}[${help}]:value:(${words(choices)})` : `${flag}[${help}]`)
    })
  const names = commands.map(({ name, description }) =>
    quoted(`${name}:${description.replaceAll(':', String.raw`\:`)}`),
  )
  const cases = commands.map(
    (command) => `    ${command.name}) _arguments ${offered(command).join(' ')} '*:file:_files' ;;`,
  )
  return `#compdef listing-sync
# listing-sync for zsh: listing-sync completion zsh > "\${fpath[1]}/_listing-sync"
_listing_sync() {
  local -a commands
  commands=(${names.join(' ')})
  if (( CURRENT == 2 )); then
    _describe command commands
    return
  fi
  case "$words[2]" in
${cases.join('\n')}
  esac
}
compdef _listing_sync listing-sync
`
}

function fish(program: Offered, commands: readonly Offered[]): string {
  const lines = ['# listing-sync for fish: listing-sync completion fish | source']
  const option = ({ flag, description, choices }: Offered['options'][number], condition: string): string =>
    `complete -c listing-sync ${condition}-l ${flag.slice(2)} -d ${quoted(description)}${choices.length > 0 ? ` -xa ${quoted(words(choices))}` : ''}`
  for (const flag of program.options) lines.push(option(flag, ''))
  for (const { name, description, options } of commands) {
    lines.push(`complete -c listing-sync -n __fish_use_subcommand -a ${name} -d ${quoted(description)}`)
    for (const flag of options) lines.push(option(flag, `-n '__fish_seen_subcommand_from ${name}' `))
  }
  return `${lines.join('\n')}\n`
}
