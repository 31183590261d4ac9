/** `npm run generate`: docs/retention.md, from `src/domain/retention/retention.ts`. */
import { writeFileSync } from 'node:fs'
import { fileRetentions, type Retention, retentions } from '../src/domain/retention/retention.ts'

/** The page that is made here. */
export const pageFile = new URL('../docs/retention.md', import.meta.url)

/** Variables of the configuration, and names of columns and sweeps, as code. */
const cell = (text: string) => text.replace(/\b[A-Z]+(_[A-Z]+)+\b/g, '`$&`')

const row = ([name, { grows, kept, why, by = '' }]: [string, Retention]) => {
  const remover = typeof by === 'string' ? cell(by) : by.map((sweep) => `\`${sweep}\``).join(', ')
  const period = kept === 'ever' ? '**for ever**' : cell(kept)
  return `| \`${name}\` | ${cell(grows)} | ${period} | ${cell(why)} | ${remover} |`
}

const table = (what: string, rows: Readonly<Record<string, Retention>>) =>
  [
    `| ${what} | grows with | kept | why | removed by |`,
    '| --- | --- | --- | --- | --- |',
    ...Object.entries(rows).map(row),
  ].join('\n')

/** The page's exact text. */
export function retentionPage(): string {
  return `# What is kept, and for how long

Made by \`npm run generate\` from [src/domain/retention/retention.ts](../src/domain/retention/retention.ts), where the sweeps come from, too; a table that does not stand
there fails a test. The variables are in [configuration.md](configuration.md), what a year of it takes on the disk in [scaling.md](scaling.md#retention).
Names such as \`forget-events\` are sweeps of the role \`jobs\`: they come every hour, remove some hundred rows at a time, wait for nobody's lock, and put off what they
cannot deal with (\`annal jobs\` shows it).

## In the database

${table('table', retentions)}

## Below \`ANNAL_DIR\`

${table('folder or file', fileRetentions)}
`
}

if (import.meta.main) writeFileSync(pageFile, retentionPage())
