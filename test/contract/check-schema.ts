/** Part of `npm run check:static`: fails if the schema has a breaking change since the last release that CHANGELOG.md does not list. */
import { untoldSinceLastRelease } from './schema-changes.ts'

const { version, untold } = await untoldSinceLastRelease()
if (untold.length) {
  const list = untold.map(({ path, what }) => `  \`${path}\`: ${what}`).join('\n')
  process.stderr.write(`schema.graphql breaks what clients of ${version} rely on:
${list}
Leave it as it was, and deprecate it with a date; or tell of it in CHANGELOG.md, below "### Breaking changes", with these paths in backticks.
`)
  process.exitCode = 1
}
