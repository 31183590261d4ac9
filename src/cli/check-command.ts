/** `annal check` and `annal mend`. */
import type { Command } from 'commander'
import type { Finding } from '../db/invariants/finding.ts'
import type { Infrastructure } from '../infrastructure.ts'
import { command } from './command.ts'
import { counted, fail, green, print, printJson, red, say, table } from './output.ts'
import { publicUrlOf, withInstallation } from './with-installation.ts'

/** Of the rows that contradict one invariant, how many are printed. */
const SHOWN_ROWS = 20

/** Nothing where no commit ever went to a chain: none is started for the question. */
async function checkAgainstChain(installation: Infrastructure): Promise<Finding[]> {
  const { database, config } = installation
  const { findSetting, settingKeys } = await import('../db/key-value-store.ts')
  if ((await database.query(findSetting, { key: settingKeys.chain })).length === 0) return []
  const { connectChain, recordersOf } = await import('../chain/connect-chain.ts')
  const { findingOf, MOST_ROWS } = await import('../db/invariants/finding.ts')
  const { checkChain } = await import('../chain/check-chain.ts')
  const { checkCoins } = await import('../modules/coins/treasury/check.ts')
  const chain = await connectChain(installation, publicUrlOf(installation))
  try {
    const parts = { database, registry: chain.registry, recorders: await recordersOf(config, installation) }
    const most = MOST_ROWS + 1
    const findings = [...(await checkChain({ ...parts, most })), ...(await checkCoins({ ...parts, most }))]
    return findings.map(({ id, sentence, rows, isNote }) => findingOf(id, sentence, rows, isNote))
  } finally {
    await chain.close()
  }
}

async function checkAll(installation: Infrastructure): Promise<Finding[]> {
  const { checkTables } = await import('../db/invariants/check-tables.ts')
  const tables = await checkTables(installation.database)
  // What comes next rests on them: not even every question can be asked.
  if (tables.rows.length > 0) return [tables]
  const { checkInvariants } = await import('../db/invariants/check-invariants.ts')
  const { checkSealed } = await import('../keys/check-keys.ts')
  const { checkOwners } = await import('../keys/check-keys.ts')
  const { checkFiles } = await import('../modules/assets/pinned-files.ts')
  const { findWaitingWork } = await import('./waiting.ts')
  return [
    ...(await checkInvariants(installation.database, { connections: installation.config.database.pool })),
    tables,
    await checkSealed(installation),
    ...(await checkOwners(installation)),
    await checkFiles(installation),
    ...(await checkAgainstChain(installation)),
    ...(await findWaitingWork(installation.database)),
  ]
}

function printFindings(findings: Finding[]) {
  const countOf = ({ rows, isCut }: Finding) => `${isCut ? 'more than ' : ''}${rows.length}`
  const verdict = (finding: Finding) => {
    if (finding.rows.length === 0) return 'holds'
    return `${countOf(finding)} ${finding.isNote ? 'to know' : 'wrong'}`
  }
  print(table(findings.map((finding) => [finding.invariant.id, verdict(finding), finding.invariant.sentence])))
  for (const { invariant, rows } of findings) {
    for (const row of rows.slice(0, SHOWN_ROWS)) print(`${invariant.id}  ${JSON.stringify(row)}`)
    if (rows.length > SHOWN_ROWS) print(`${invariant.id}  and others; --json shows ${rows.length} of them`)
  }
}

/** Adds `annal check` and `annal mend`. */
export function addCheckCommands(program: Command): void {
  command(
    program,
    'check',
    'Checks the books and histories, that keys, files and chain are those of the database, and that no work waits for an operator; exits with 1 when something is wrong.',
    ['annal check', `annal check --json | jq '.[] | select(.holds | not)'`],
  )
    .option(
      '--json',
      'prints every invariant with the first rows that contradict it; "isCut": there are more, "isNote": nothing is wrong',
    )
    .action(async ({ json }) => {
      const findings = await withInstallation(checkAll, () => import('../chain/connect-chain.ts'))
      const isWrong = findings.some(({ rows, isNote }) => rows.length > 0 && !isNote)
      if (isWrong) fail()
      if (json) {
        return printJson(
          findings.map(({ invariant: { id, sentence }, rows, isCut, isNote = false }) => ({
            ...{ id, sentence, holds: !rows.length, rows, isCut, isNote },
          })),
        )
      }
      printFindings(findings)
      if (isWrong)
        return say(red('Something is wrong. docs/operations.md tells what each finding means and what to do.'))
      say(green(findings.some(({ rows }) => rows.length > 0) ? 'Nothing is wrong.' : 'Everything holds.'))
    })

  command(program, 'mend', 'Puts back what the file store lacks and the database can give: trees and thumbnails.', [
    'annal mend',
  ])
    .option('--json', 'prints {"trees", "thumbnails", "signed", "missing"}')
    .action(async ({ json }) => {
      const { repairFiles } = await import('../modules/assets/pinned-files.ts')
      const repairs = await withInstallation(repairFiles)
      if (repairs.missing.length) fail()
      if (json) return printJson(repairs)
      const { trees, thumbnails, signed, missing } = repairs
      print(`${counted(trees, 'tree was', 'trees were')} put back`)
      print(`${counted(thumbnails, 'thumbnail is', 'thumbnails are')} made anew by a running server`)
      print(`${counted(signed, 'file', 'files')} with Content Credentials: made anew when asked for`)
      for (const row of missing) print(JSON.stringify(row))
      if (missing.length)
        say(red(`${missing.length} cannot be made of what is here: restore blocks, or send the file again.`))
    })
}
