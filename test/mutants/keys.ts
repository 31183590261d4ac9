import { type Mutant, mutantsOf } from './mutant.ts'

export const keys: Mutant[] = [
  ...mutantsOf(
    'src/platform/lasting-file.ts',
    ['platform/lasting-file.test.ts'],
    [
      ['keys.flush-file', 'A key file is on the disk before anybody relies on it.', `, flush: true }`, ` }`],
      ['keys.flush-folder', 'So is its name in the folder.', `    await handle.sync()\n`, ``],
      ['keys.file-mode', 'A key is its owner’s eyes only.', `mode: 0o600`, `mode: 0o644`],
      [
        'keys.leave-aside',
        'What a crash left beside a key goes with it.',
        `name === basename(file) || name.startsWith(\`\${basename(file)}.\`)`,
        `name === basename(file)`,
        ['platform/key-vault.test.ts'],
      ],
    ],
  ),
  ...mutantsOf(
    'src/platform/make-folders.ts',
    ['platform/lasting-file.test.ts'],
    [['keys.folder-mode', 'So is the folder of keys.', `mode: 0o700`, `mode: 0o755`]],
  ),
  ...mutantsOf(
    'src/platform/folder-owner.ts',
    ['server/private-folders.test.ts'],
    [
      [
        'keys.give-to-owner',
        'What root writes into the keys of a service is the service’s to read.',
        `  if (lstatSync(path).uid !== uid) lchownSync(path, uid, gid)\n`,
        ``,
      ],
      [
        'keys.root-on-embedded',
        'Root takes no embedded part away from whoever runs it.',
        `if (owners.includes(0)) return`,
        `if (owners.length) return`,
      ],
    ],
  ),
  ...mutantsOf(
    'src/platform/vault/aes-gcm.ts',
    ['platform/key-vault.test.ts'],
    [
      [
        'keys.context',
        'What is sealed opens for its owner and purpose only.',
        `decipher.update(bytes.subarray(NONCE_BYTES + TAG_BYTES)), decipher.final()`,
        `decipher.update(bytes.subarray(NONCE_BYTES + TAG_BYTES))`,
      ],
    ],
  ),
  ...mutantsOf(
    'src/platform/embedded/postgres-cluster.ts',
    ['processes/embedded-postgres.processes.ts'],
    [
      [
        'keys.lost-password',
        'A start that lacks keys makes none: those of a backup would not be laid over them.',
        `if (existsSync(join(dir, 'postgres', 'PG_VERSION'))) throw`,
        `if (dir === '') throw`,
      ],
    ],
  ),
  ...mutantsOf(
    'src/platform/content-credentials/content-credentials.ts',
    ['processes/embedded-postgres.processes.ts'],
    [
      [
        'keys.credentials-later',
        'Nor does it make a key for Content Credentials.',
        `return mayBeDevelopment && existsSync(file) ?`,
        `if (!existsSync(file)) openSigningIdentity({ key, certificates, mayBeDevelopment }, dir)
  return mayBeDevelopment ?`,
      ],
    ],
  ),
  ...mutantsOf(
    'src/platform/vault/key-shares.ts',
    ['rest/full-disk.test.ts'],
    [
      [
        'keys.no-room',
        'A key for which there is no room is an outage, and no fault.',
        `throw unavailable('The key vault', error)`,
        `throw error`,
      ],
    ],
  ),
  ...mutantsOf(
    'src/platform/vault/key-ring.ts',
    ['platform/key-vault.test.ts', 'processes/key-rotation.processes.ts'],
    [
      [
        'keys.clock-put-back',
        'A new key is seen whatever happens to the clock.',
        `if (isOfFiles && performance.now() - lookedAt > LOOK_EVERY_MS) {
      lookedAt = performance.now()`,
        `if (isOfFiles && Date.now() - performance.timeOrigin - lookedAt > LOOK_EVERY_MS) {
      lookedAt = Date.now() - performance.timeOrigin`,
      ],
      [
        'keys.rest',
        'An earlier key rests before it is destroyed.',
        `if (doomed.length > 0 && wait > 0) {`,
        `if (doomed.length > 99) {`,
      ],
      [
        'keys.copy-left',
        'No copy of a key outlives it that a start left which was killed.',
        `      await removeAsides(file, Date.now() - REST_MS)\n`,
        ``,
      ],
      [
        'keys.renew-keeps',
        'The key that wrapped before is kept.',
        `for (const each of [keys[0], fresh])`,
        `for (const each of [fresh])`,
      ],
    ],
  ),
  ...mutantsOf(
    'src/platform/vault/vault-identity.ts',
    ['processes/vault-identity.processes.ts'],
    [
      [
        'keys.lacking',
        'A server does not start without a key that wraps accounts’ keys.',
        `if (lacking.length === 0) return`,
        `if (lacking.length >= 0) return`,
      ],
      [
        'keys.give-up-unknown',
        'No key is given up that nobody misses.',
        `if (!isGivenUp && !lacking.some(({ id }) => id === keyId)) {`,
        `if (keyId === '') {`,
      ],
    ],
  ),
  ...mutantsOf(
    'src/platform/vault/lost-database.ts',
    ['processes/vault-identity.processes.ts'],
    [
      [
        'keys.empty-database',
        'Keys of accounts are not taken to an empty database.',
        `if (!(await holdsKeyShares(dir)) || `,
        `if (dir !== '' || `,
      ],
      [
        'keys.lost-cluster',
        'No empty embedded database takes the place of one that is lost.',
        `if (existsSync(join(dir, 'postgres')) || `,
        `if (dir !== '' || `,
      ],
    ],
  ),
  ...mutantsOf(
    'src/domain/keys/key-rotation.ts',
    ['processes/key-rotation.processes.ts'],
    [
      [
        'keys.patience',
        'A rotation waits for a database that is away for a moment.',
        `tries === TRIES) throw error`,
        `tries >= 1) throw error`,
      ],
    ],
  ),
]
