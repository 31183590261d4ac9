/** A part of `npm run check:static`: refuses a schema that breaks what clients of the last release rely on, unless CHANGELOG.md says so. */
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
