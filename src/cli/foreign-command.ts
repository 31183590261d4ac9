/** `annal foreign`. */
import type { Command } from 'commander'
import { blockNumber } from './block-number.ts'
import { command } from './command.ts'
import { counted, green, print, printJson, red, say, table } from './output.ts'
import { withDatabase } from './with-installation.ts'

interface ForeignFlags {
  from?: number
  json?: true
}

async function readForeign(from: number | undefined) {
  const { countByRecorder, findReadingPasts, findRestingPasts, readAgain, readForeignState } = await import(
    '../chain/foreign/statements.ts'
  )
  return withDatabase(async (database) => {
    if (from !== undefined) await database.query(readAgain, { from })
    const [state] = await database.query(readForeignState)
    return {
      ...state!,
      recorders: await database.query(countByRecorder),
      reading: await database.query(findReadingPasts),
      resting: await database.query(findRestingPasts),
    }
  })
}

/** Adds `annal foreign`. */
export function addForeignCommand(program: Command): void {
  command(
    program,
    'foreign',
    'Shows who else committed to files of ours, and how far the registry was read for that.',
    ['annal foreign', 'annal foreign --from 19000000'],
  )
    .option('--from <block>', 'reads everything from this block on once more', blockNumber)
    .option(
      '--json',
      'prints {"block", "head", "watched", "unread", "commits", "again", "recorders", "reading", "resting"}',
    )
    .addHelpText(
      'after',
      `
What others commit changes nothing of an asset. Accounts that were yours are named in CHAIN_EARLIER_RELAYS.`,
    )
    .action(async ({ from, json }: ForeignFlags) => {
      const found = await readForeign(from)
      if (json) return printJson(found)
      const { block, head, watched, unread, commits, again, recorders, reading, resting } = found
      if (again) say('The running service, or the next that starts, reads from that block on once more.')
      if (block === null) say('The registry was not read yet.')
      else say(`Read up to block ${block}; the newest was ${head ?? block}.`)
      say(`${counted(watched, 'file is', 'files are')} watched for; of ${unread} the past is still to be read.`)
      if (commits === 0) say(green('Nobody else has committed to them.'))
      else {
        const rows = recorders.map((row) => [row.recorder, String(row.commits), String(row.assets)])
        print(table([['account', 'commits', 'files'], ...rows]))
      }
      if (reading.length > 0)
        print(
          table([
            ['file', 'past read up to', 'of'],
            ...reading.map((row) => [row.nid, String(row.from - 1), String(row.to)]),
          ]),
        )
      if (resting.length === 0) return
      const lines = resting.map(({ nid, attempts, next_attempt_at, last_error }) => [
        ...[nid, String(attempts), next_attempt_at.toISOString(), last_error],
      ])
      print(table([['file', 'attempts', 'next attempt', 'why'], ...lines]))
      say(red(`The past of ${counted(resting.length, 'file', 'files')} could not be read yet.`))
    })
}
