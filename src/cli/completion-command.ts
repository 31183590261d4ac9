/** Command `completion`. */
import { Argument, type Command } from 'commander'
import { command } from './command.ts'
import { print } from './terminal.ts'

/** Words that can follow a command line. The keys are full commands such as `keys rotate`, or a command and an option. */
function wordsAfter(parent: Command, path = ''): [line: string, words: string[]][] {
  const options = [...new Set([...parent.options.map(({ long }) => long!), '--help'])]
  const choices = parent.registeredArguments.flatMap(({ argChoices = [] }) => argChoices)
  const values = parent.options.filter(({ argChoices }) => argChoices)
  return [
    [path, [...parent.commands.map((each) => each.name()), ...choices, ...options]],
    ...values.map(({ long, argChoices }): [string, string[]] => [`${path} ${long}`.trim(), [...argChoices!]]),
    ...parent.commands.flatMap((each) => wordsAfter(each, `${path} ${each.name()}`.trim())),
  ]
}

/** Returns the script for bash. It follows the words of the command line as far as they are known. */
const bash = (program: Command) => `# Completion of annal for bash: source <(annal completion bash)
_annal() {
  local at='' word
  local -A words=(
${wordsAfter(program)
  .map(([line, words]) => `    ['|${line}']='${words.join(' ')}'`)
  .join('\n')}
  )
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    if [[ $word != -* && -v "words[|\${at:+$at }$word]" ]]; then at="\${at:+$at }$word"; fi
  done
  word="\${at:+$at }\${COMP_WORDS[COMP_CWORD-1]}"
  if [[ $word != *' -'* || ! -v "words[|$word]" ]]; then word=$at; fi
  COMPREPLY=($(compgen -W "\${words[|$word]}" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _annal annal`

const zsh = (program: Command) => `autoload -U +X bashcompinit && bashcompinit\n${bash(program)}`

/** Returns the script for fish. It completes options wherever their command occurs. */
const fish = (program: Command) =>
  wordsAfter(program)
    .map(([line, words]) => {
      const seen = line ? `string match -q 'annal ${line} *' -- (commandline -cp)` : 'test (count (commandline -xpc)) = 1'
      return `complete -c annal -f -n "${seen}" -a '${words.join(' ')}'`
    })
    .join('\n')
