/** `annal completion`. */
import { Argument, type Command } from 'commander'
import { command } from './command.ts'
import { print } from './output.ts'

/** What can stand after the words of a command. */
interface Place {
  /** Words of the command, `keys rotate`; empty for none. */
  path: string
  commands: { name: string; description: string }[]
  options: { name: string; description: string; values: readonly string[] }[]
}

function placesOf(at: Command, path = ''): Place[] {
  const commands = at.commands.map((each) => ({ name: each.name(), description: each.description() }))
  const options = [
    ...at.options,
    at
      .createHelp()
      .visibleOptions(at)
      .find(({ long }) => long === '--help')!,
  ]
    .filter((option, index, all) => option !== undefined && all.indexOf(option) === index)
    .map(({ long, description, argChoices = [] }) => ({ name: long!, description, values: argChoices }))
  const values = at.registeredArguments.flatMap(({ argChoices = [] }) => argChoices)
  const words = values.map((name) => ({ name, description: '' }))
  const below = at.commands.flatMap((each) => placesOf(each, path ? `${path} ${each.name()}` : each.name()))
  return [{ path, commands: [...commands, ...words], options }, ...below]
}

const wordsOf = ({ commands, options }: Place) => [...commands, ...options].map(({ name }) => name)
/** In single quotes; for all three shells. */
const quoted = (text: string) => `'${text.replaceAll("'", `'"'"'`)}'`
const descends = (places: readonly Place[]) =>
  places.flatMap(({ path }) =>
    path
      ? [
          `      ${quoted(`${path.split(' ').slice(0, -1).join(' ')}|${path.split(' ').at(-1)}`)}) at=${quoted(path)} ;;`,
        ]
      : [],
  )
const choices = (places: readonly Place[]) =>
  places.flatMap(({ path, options }) =>
    options.flatMap(({ name, values }) =>
      values.length ? [`    ${quoted(`${path}|${name}`)}) words=${quoted(values.join(' '))} ;;`] : [],
    ),
  )

const bash = (places: readonly Place[]) => `# Completion of annal for bash: source <(annal completion bash)
_annal() {
  local at='' words='' word
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case "$at|$word" in
${descends(places).join('\n')}
    esac
  done
  case "$at|\${COMP_WORDS[COMP_CWORD-1]}" in
${choices(places).join('\n')}
    *) case "$at" in
${places.map((place) => `      ${quoted(place.path)}) words=${quoted(wordsOf(place).join(' '))} ;;`).join('\n')}
    esac ;;
  esac
  COMPREPLY=($(compgen -W "$words" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _annal annal`

const described = ({ commands, options }: Place) =>
  [...commands, ...options].map(({ name, description }) =>
    quoted(description ? `${name}:${description.replaceAll(':', '\\:')}` : name),
  )

const zsh = (places: readonly Place[]) => `#compdef annal
# Completion of annal for zsh: source <(annal completion zsh), or write it as _annal into a folder of $fpath
_annal() {
  local at='' word words_
  local -a found
  for word in "\${words[@]:1:$((CURRENT-2))}"; do
    case "$at|$word" in
${descends(places).join('\n')}
    esac
  done
  case "$at|\${words[CURRENT-1]}" in
${choices(places).join('\n').replaceAll('words=', 'words_=')}
  esac
  if [[ -n "$words_" ]]; then compadd -- \${=words_}; return; fi
  case "$at" in
${places.map((place) => `    ${quoted(place.path)}) found=(${described(place).join(' ')}) ;;`).join('\n')}
  esac
  _describe annal found || _files
}
(( $+functions[compdef] )) && compdef _annal annal`

const fishLine = (path: string, parts: string) =>
  `complete -c annal -n ${quoted(`__annal_at ${quoted(path)}`)} ${parts}`

const fish = (places: readonly Place[]) => `# Completion of annal for fish: annal completion fish | source
function __annal_at --description 'Whether the words so far name this command'
  set -l at ''
  for word in (commandline -opc)[2..]
    switch "$at|$word"
${places.flatMap(({ path }) => (path ? [`      case ${quoted(`${path.split(' ').slice(0, -1).join(' ')}|${path.split(' ').at(-1)}`)}\n        set at ${quoted(path)}`] : [])).join('\n')}
    end
  end
  test "$at" = "$argv[1]"
end
${places
  .flatMap(({ path, commands, options }) => [
    ...commands.map(({ name, description }) =>
      fishLine(path, `-f -a ${name}${description ? ` -d ${quoted(description)}` : ''}`),
    ),
    ...options.map(({ name, description, values }) =>
      fishLine(
        path,
        `-l ${name.slice(2)}${values.length ? ` -x -a ${quoted(values.join(' '))}` : ''} -d ${quoted(description)}`,
      ),
    ),
  ])
  .join('\n')}`

const shells = { bash, zsh, fish }

/** Adds `annal completion`. */
export function addCompletionCommand(program: Command): void {
  command(program, 'completion', 'Prints what completes commands and options in a shell.', [
    'source <(annal completion bash)',
    'annal completion zsh > ~/.zfunc/_annal',
    'annal completion fish > ~/.config/fish/completions/annal.fish',
  ])
    .addArgument(new Argument('<shell>', 'which one').choices(Object.keys(shells)))
    .action((shell: keyof typeof shells) => print(shells[shell](placesOf(program))))
}
