/** `annal files copy`. */
import { existsSync } from 'node:fs'
import { type Command, Option } from 'commander'
import type { ContentStore } from '../domain/ports/files.ts'
import { command } from './command.ts'
import { counted, fail, green, print, printJson, red, say } from './output.ts'
import { createProgress } from './progress.ts'
import { interruption } from './terminal.ts'
import { withServices } from './with-installation.ts'

interface CopyFlags {
  fromDir?: string
  fromKubo?: string
  json?: true
}

async function openSource({ fromDir, fromKubo }: CopyFlags): Promise<ContentStore> {
  if (fromKubo !== undefined) {
    const { createKuboContentStore } = await import('../files/kubo-store.ts')
    return createKuboContentStore({ url: fromKubo })
  }
  if (fromDir === undefined || !existsSync(fromDir)) throw new Error(`There is no folder ${fromDir}.`)
  const { createContentStore } = await import('../files/content-store.ts')
  return createContentStore({ dir: fromDir })
}

async function copyAll(flags: CopyFlags) {
  const { copyFiles } = await import('../files/copy-files.ts')
  const from = await openSource(flags)
  return withServices(async ({ maintenance }, { contentStore }) => {
    let total = 0
    for await (const _ of maintenance.pinned()) total += 1
    const progress = createProgress('files looked at')
    try {
      return await copyFiles({
        ...{ from, to: contentStore, pinned: maintenance.pinned(), cancel: interruption() },
        tell: (done) => progress.tell(done, total),
      })
    } finally {
      progress.end()
    }
  })
}

/** Adds `annal files copy`. */
export function addFilesCommands(program: Command): void {
  const files = command(program, 'files', 'Where the blocks of files lie.')
  command(
    files,
    'copy',
    'Copies what assets need into the file store that is configured; given again it goes on. Exits with 1 when something is missing there.',
    [
      'S3_BUCKET=annal-files annal files copy --from-dir .annal/blocks',
      'annal files copy --from-kubo http://127.0.0.1:5001',
    ],
    `Copy beside the running servers first, then once more after they have stopped, and start them with the new store.
Nothing is removed where files come from.`,
  )
    .addOption(new Option('--from-dir <folder>', 'a folder of blocks, such as ANNAL_DIR/blocks').conflicts('fromKubo'))
    .addOption(new Option('--from-kubo <url>', 'the RPC of a Kubo node'))
    .option('--json', 'prints {"copied", "present", "missing"}')
    .action(async (flags: CopyFlags, self: Command) => {
      if (flags.fromDir === undefined && flags.fromKubo === undefined)
        self.error('error: --from-dir or --from-kubo is needed', { exitCode: 2 })
      const copying = await copyAll(flags)
      const { copied, present, missing } = copying
      if (missing.length > 0) fail()
      if (flags.json) return printJson(copying)
      print(`${counted(copied, 'file was', 'files were')} copied`)
      print(`${counted(present, 'file was', 'files were')} there before`)
      for (const cid of missing) print(`missing  ${cid}`)
      if (missing.length > 0) return say(red(`${counted(missing.length, 'file is', 'files are')} not there whole.`))
      say(green('The file store has all that assets need.'))
    })
}
