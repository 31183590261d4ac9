/** `npm run generate`: docs/configuration.md, from `src/config/variables.ts`. */
import { writeFileSync } from 'node:fs'
import { describeConfig } from '../src/config.ts'

/** The page that is made here. */
export const pageFile = new URL('../docs/configuration.md', import.meta.url)

const cell = (text: string) => text.replace(/[|<]/g, '\\$&')

/** The page's exact text. */
export function configurationPage(): string {
  const rows = describeConfig().map(({ name, doc, isSecret, default: value }) => {
    const names = isSecret ? `\`${name}\`, \`${name}_FILE\`` : `\`${name}\``
    return `| ${names} | ${value === undefined ? '' : `\`${cell(value)}\``} | ${cell(doc)} |`
  })
  return `# Configuration

Made by \`npm run generate\` from [src/config/variables.ts](../src/config/variables.ts). Annal reads its configuration from the environment, completed by a file \`.env\` in the
folder that it is started in. Every variable is optional unless it says so, and one that is empty counts as unset. All that is wrong is told at once, before anything starts; \`annal config\` prints
what holds. Of a secret the variable with \`_FILE\` names a file that holds it (Docker, Kubernetes and systemd hand secrets over so); set one of the two.

| variable | default | meaning |
| --- | --- | --- |
${rows.join('\n')}
`
}

if (import.meta.main) writeFileSync(pageFile, configurationPage())
