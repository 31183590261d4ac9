import { type Mutant, mutantsOf } from './mutant.ts'

export const embedded: Mutant[] = [
  ...mutantsOf(
    'src/platform/embedded/saving-pace.ts',
    ['platform/saving-pace.test.ts'],
    [
      ['embedded.share', 'Saving the chain leaves the processor to requests.', `1 / 50`, `1 / 5`],
      [
        'embedded.unsaved',
        'A block does not wait for its dump without end.',
        `Math.min(took / savingShare, `,
        `Math.max(took / savingShare, `,
      ],
    ],
  ),
  ...mutantsOf(
    'src/platform/embedded/embedded-anvil.ts',
    ['processes/embedded-chain.processes.ts'],
    [
      [
        'embedded.unchanged',
        'A chain on which nothing happened is not written anew.',
        `if (own?.isLoaded) await miner.noteLoaded(createRpc(own.socket))`,
        ``,
      ],
    ],
  ),
  ...mutantsOf(
    'src/platform/embedded/child-process.ts',
    ['platform/free-port.test.ts'],
    [
      [
        'embedded.port',
        'A port that is free now is not given to an outgoing connection before it is used.',
        `[15_000, 29_999]`,
        `[32_768, 60_999]`,
      ],
    ],
  ),
  ...mutantsOf(
    'src/platform/embedded/embedded-postgres.ts',
    ['processes/embedded-postgres.processes.ts'],
    [
      [
        'embedded.recovery',
        'A database that recovers from a crash is waited for.',
        `async () => failure === undefined,`,
        `async () => false,`,
      ],
      [
        'embedded.stands',
        'A database that was told to stop, and stands for ever, is ended and started anew.',
        `process.kill(running.pid, 'SIGQUIT')`,
        `process.kill(running.pid, 'SIGINT')`,
      ],
      [
        'embedded.left-recovering',
        'Who leaves while the database recovers stops it all the same.',
        `return waitFor(STOP_MS, () => comeToStop(server))`,
        `return false`,
      ],
      [
        'embedded.entered-again',
        'A database that one of its own processes took down is entered again once it has recovered.',
        `refusal === CANNOT_CONNECT_NOW`,
        `false`,
      ],
      [
        'embedded.half-written',
        'No copy of the database’s password stays that a start left which was killed.',
        `    await removeHalfWritten(dir)\n`,
        ``,
      ],
      [
        'embedded.nothing-written',
        'Who joins a database writes nothing, as on a full disk.',
        `if (credentials.port !== written.port) await`,
        `await`,
      ],
      [
        'embedded.started-again',
        'A database that cannot be started again is tried again.',
        `return startAgain(Math.min(2 * pause, LONGEST_PAUSE_MS))`,
        `throw new Error('The embedded PostgreSQL could not be started again.')`,
      ],
    ],
  ),
  ...mutantsOf(
    'src/platform/stop-signal.ts',
    ['processes/signals.processes.ts'],
    [
      [
        'embedded.told-again',
        'A service that is told again to stop leaves no database behind.',
        `Promise.race([abandon().catch(() => undefined), delay(ABANDON_MS)])`,
        `undefined`,
      ],
    ],
  ),
  ...mutantsOf(
    'src/supervisor.ts',
    ['processes/signals.processes.ts'],
    [
      [
        'embedded.workers-first',
        'The database of several processes stops once the workers are gone.',
        `  async function abandon() {\n    await crew.stop()\n`,
        `  async function abandon() {\n`,
      ],
    ],
  ),
  ...mutantsOf(
    'src/run-process.ts',
    ['processes/refused-starts.processes.ts'],
    [
      [
        'embedded.refused',
        'A start that is refused leaves nothing running that it had started.',
        `    await Promise.race([closeAll(opened), delay(STOP_MS)])\n`,
        ``,
      ],
    ],
  ),
  ...mutantsOf(
    'src/platform/embedded/postgres-cluster.ts',
    ['processes/embedded-postgres.processes.ts'],
    [
      [
        'embedded.half-made',
        'What a start left that was killed while its database was being made is taken away.',
        `  await removeHalfMade(dir)\n`,
        ``,
      ],
    ],
  ),
  ...mutantsOf(
    'src/platform/embedded/anvil-process.ts',
    ['processes/embedded-chain.processes.ts'],
    [
      [
        'embedded.orphans',
        'A chain of a start that was killed before it answered is ended by the next.',
        `  await endOrphans(files)\n`,
        ``,
      ],
      [
        'embedded.named',
        'A chain can be found by what names it from before it is there.',
        `  await writeFile(starting, socket)\n`,
        ``,
      ],
      [
        'embedded.leftovers',
        'What a process left half that was killed is taken away.',
        `  await removeLeftovers(files)\n`,
        ``,
      ],
      [
        'embedded.unreadable',
        'No empty chain takes the place of one that cannot be read.',
        `throw new Error(\`The saved chain`,
        `return new Error(\`The saved chain`,
      ],
    ],
  ),
  ...mutantsOf(
    'src/chain/relay/relay.ts',
    ['processes/relay-faults.processes.ts'],
    [
      [
        'embedded.resting',
        'What a chain lost of settled commits goes back to it without waiting for a new one.',
        `performance.now() - seenWholeAt < pauses.resting`,
        `seenWholeAt >= 0`,
      ],
    ],
  ),
  ...mutantsOf(
    'src/platform/embedded/embedded-anvil.ts',
    ['processes/embedded-chain.processes.ts'],
    [['embedded.unsaved-stop', 'A chain that could not be saved is not ended.', `    if (!isSaved) return\n`, ``]],
  ),
]
