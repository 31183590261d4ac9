import { type Mutant, mutantsOf } from './mutant.ts'

const LOCKED_MAILS = ['rest/locked-mails.test.ts']

export const permission: Mutant[] = [
  ...mutantsOf(
    'src/files/kubo-store.ts',
    ['files/kubo-store.test.ts'],
    [
      [
        'doors.kubo-told-nothing',
        'A Kubo of which nothing is said serves all nodes that are connected to it.',
        `.catch(() => true)`,
        `.catch(() => false)`,
      ],
      [
        'doors.kubo-closed',
        'A Kubo that is closed serves nobody.',
        `if (isServer === false) return 0`,
        `if (isServer === undefined) return 0`,
      ],
    ],
  ),
  ...mutantsOf(
    'src/domain/asset/file-type.ts',
    ['rest/file-types.test.ts'],
    [
      [
        'doors.type-seen',
        'A picture that is sent as text is one.',
        `isBinary(head) ? formatOf(head) : undefined`,
        `undefined as string | undefined`,
      ],
      [
        'doors.type-of-family',
        'Of formats that begin alike the name says which it is.',
        `families.has(seen) && isNoText(named) ? named : seen`,
        `seen`,
      ],
      [
        'doors.type-said',
        'What is said to be plain text is no page that a browser runs.',
        `said === OCTETS || isNoText(named) ? named : said`,
        `named`,
      ],
    ],
  ),
  ...mutantsOf(
    'src/domain/asset/find-file.ts',
    ['rest/files.test.ts', 'rest/shared-files.test.ts', 'processes/content-credentials.processes.ts'],
    [
      [
        'permission.private-file',
        'A private file is read by its owner alone.',
        `p.kind <> 'C2PA' and \${visibleAssetsSql}`,
        `p.kind <> 'C2PA' and a.deleted_at is null and $reader::uuid is not distinct from $reader`,
      ],
      [
        'permission.link-of-asset',
        'A link to a file is for one asset, and for none that the file is registered as later.',
        `a.id = $linkedAsset and`,
        ``,
      ],
      [
        'permission.link-while-locked',
        'Links to files of a locked account open nothing.',
        ` and u.locked_at is null`,
        ``,
      ],
      [
        'permission.copy-withheld',
        'A file with Content Credentials whose owner gives them to nobody is not found by its CID either.',
        `u.allow_c2pa_download or`,
        `true or`,
      ],
      [
        'permission.name-of-thumbnail',
        'A thumbnail does not tell the name of a file.',
        `mimeType: 'image/webp', fileName: \`\${cid}.webp\``,
        `mimeType: 'image/webp'`,
      ],
      [
        'permission.made-before-registered',
        'Nobody decides by registering the bytes of a thumbnail as what it is sent.',
        `'{THUMBNAIL,TREE,FILE}'`,
        `'{FILE,TREE,THUMBNAIL}'`,
      ],
    ],
  ),
  ...mutantsOf(
    'src/files/file-links.ts',
    ['rest/shared-files.test.ts'],
    [
      [
        'permission.link-signs-asset',
        'Whoever has a link to a file cannot make one to another asset of the same bytes.',
        `update(\`\${assetId}\\n\${cid}`,
        `update(\`\${cid}`,
      ],
    ],
  ),
  ...mutantsOf(
    'src/domain/asset/block-service.ts',
    ['rest/gateway.test.ts'],
    [
      [
        'permission.private-block',
        'A block is as private as the file that it is of.',
        `and \${visibleAssetsSql}`,
        `and a.deleted_at is null and $reader::uuid is not distinct from $reader`,
      ],
      [
        'permission.forgotten-block',
        'Of a deleted file no block is remembered.',
        `while ((await database.query(forgetBlocks, {})).length > 0) cancel?.throwIfAborted()`,
        `cancel?.throwIfAborted()`,
      ],
    ],
  ),
  ...mutantsOf(
    'src/domain/asset/link-service.ts',
    ['pages/asset-page.test.ts'],
    [
      [
        'permission.link-generation',
        'A link without a row that was ended opens nothing.',
        `sign(id, ownerId, generation, expires)`,
        `sign(id, ownerId, 0, expires)`,
      ],
      [
        'permission.link-asset',
        'A link opens the asset that it was made for.',
        `sign('link', link, assetId, ownerId)`,
        `sign('link', ownerId)`,
      ],
      [
        'permission.link-signature',
        'A link is known by its signature.',
        `one.length === other.length && timingSafeEqual(one, other)`,
        `one.length > 0`,
      ],
      [
        'permission.link-retry',
        'A retry gives no link that was ended.',
        `if (!link || link.revokedAt) throw`,
        `if (!link) throw`,
      ],
      ['permission.link-locked', 'The links of a locked account open nothing.', `!facts?.isOpen ||`, `!facts ||`],
    ],
  ),
  ...mutantsOf(
    'src/domain/asset/history-service.ts',
    ['pages/asset-page.test.ts'],
    [
      [
        'permission.verification-share',
        'Whoever has one asset checked without end leaves the others a place.',
        'return holdAgainst(verification, await readRecords(assetId))\n    }, askerOf(actor))',
        'return holdAgainst(verification, await readRecords(assetId))\n    })',
      ],
    ],
  ),
  ...mutantsOf(
    'src/platform/gate.ts',
    ['platform/gate.test.ts'],
    [
      [
        'permission.gate-share',
        'No key holds more than its share of the places.',
        'free > 0 && heldBy(keys) < perKey',
        'free > 0',
      ],
      [
        'permission.gate-queue-share',
        'No key fills the queue.',
        'queued.of(key) >= queuePerKey',
        'queued.of(key) >= queue',
      ],
      [
        'permission.gate-fewest',
        'A place goes to those who hold the fewest.',
        'if (first?.holds === 0) break',
        'if (first) break',
      ],
    ],
  ),
  ...mutantsOf(
    'src/domain/asset/own-trees.ts',
    ['pages/asset-page.test.ts'],
    [
      [
        'permission.proof-own-trees',
        'A proof has no tree of another asset, whatever a stranger commits.',
        `where = { nid, deletedAt: null,`,
        `where = { deletedAt: null,`,
      ],
    ],
  ),
  ...mutantsOf(
    'src/domain/asset/link-statements.ts',
    ['pages/asset-page.test.ts'],
    [
      [
        'permission.link-revoked',
        'A link that was ended opens nothing.',
        ` and l.revoked_at is null\n     and l.expires_at`,
        `\n     and l.expires_at`,
      ],
      [
        'permission.link-of-locked',
        'A link of a locked account opens nothing.',
        ` and u.locked_at is null and l.revoked_at`,
        ` and l.revoked_at`,
      ],
      [
        'permission.link-of-another',
        'A link opens the page of its asset and no other.',
        `where l.id = $link and a.nid = $nid and a.deleted_at`,
        `where l.id = $link and $nid <> '' and a.deleted_at`,
      ],
      [
        'permission.link-ended-by-stranger',
        'Only its owner ends a link.',
        `a.id = l.asset_id and a.owner_id = $user and`,
        `a.id = l.asset_id and $user is not null and`,
      ],
      [
        'permission.link-read-by-stranger',
        'Only its owner reads a link.',
        `where l.id = $link and a.owner_id = $user and`,
        `where l.id = $link and $user is not null and`,
      ],
      [
        'permission.link-hour',
        'Of the last use of a link the hour is kept, and no more.',
        `set last_used_at = date_trunc('hour', now(), 'UTC') where`,
        `set last_used_at = now() where`,
      ],
    ],
  ),
  ...mutantsOf(
    'src/graphql/asset-link.ts',
    ['pages/asset-page.test.ts'],
    [
      [
        'permission.links-of-others',
        'Nobody but its owner lists the links to an asset.',
        `owns(actor, asset)\n`,
        `asset.id\n`,
      ],
    ],
  ),
  ...mutantsOf(
    'src/domain/policy.ts',
    ['domain/policy.test.ts'],
    [
      [
        'permission.admin-reads-orders',
        'An administrator sees nobody else’s orders: their arguments may carry a live token.',
        `  return { buyerId: actor.kind === 'user' ? actor.id : { in: [] } }`,
        `  if (canAdminister(actor)) return {}\n  return { buyerId: actor.kind === 'user' ? actor.id : { in: [] } }`,
      ],
      [
        'permission.anonymous-order',
        'An anonymous caller sees no order.',
        `actor.kind === 'user' ? actor.id : { in: [] }`,
        `actor.kind === 'user' ? actor.id : undefined`,
      ],
      [
        'permission.private-asset',
        'A private asset is its owner’s alone.',
        `OR: [{ publicAccess: true }, { ownerId: actor.id }]`,
        `OR: [{ publicAccess: true }, { publicAccess: false }]`,
      ],
      [
        'permission.anonymous-private',
        'An anonymous caller sees public assets only.',
        `return { deletedAt: null, publicAccess: true }`,
        `return { deletedAt: null }`,
      ],
      [
        'permission.deleted-visible',
        'A deleted asset is seen by nobody.',
        `return { deletedAt: null, OR: [`,
        `return { OR: [`,
      ],
      [
        'permission.write-foreign',
        'Only its owner changes an asset.',
        `if (action !== 'asset:read' && !owns(actor, asset)) {`,
        `if (action === 'asset:delete' && !owns(actor, asset)) {`,
      ],
      [
        'permission.delete-foreign',
        'Only its owner deletes an asset.',
        `if (action !== 'asset:read' && !owns(actor, asset)) {`,
        `if (action === 'asset:update' && !owns(actor, asset)) {`,
      ],
      [
        'permission.private-parts',
        'What is private of a record is the person’s alone.',
        `actor.kind === 'system' || (actor.kind === 'user' && actor.id === userId)`,
        `actor.kind === 'system' || actor.kind === 'user'`,
      ],
      [
        'permission.administer',
        'Only an administrator runs the store.',
        `if (action === 'store:administer' && actor.role !== 'ADMIN') {`,
        `if (action === 'store:administer' && !actor.role) {`,
      ],
      [
        'permission.unsold-app',
        'An app that is out of sale is seen by administrators alone.',
        `return actor.kind === 'user' ? { deactivatedAt: null } : { id: { in: [] } }`,
        `return actor.kind === 'user' ? {} : { id: { in: [] } }`,
        ['graphql/network-apps.test.ts'],
      ],
      [
        'permission.anonymous-app',
        'Network apps are for who is signed in.',
        `? { deactivatedAt: null } : { id: { in: [] } }`,
        `? { deactivatedAt: null } : { deactivatedAt: null }`,
        ['graphql/network-apps.test.ts'],
      ],
      [
        'permission.wrong-key',
        'A wrong API key is refused also where none is needed.',
        `if (actor.service === 'unknown') throw`,
        `if (needed && actor.service === 'unknown') throw`,
        ['domain/policy.test.ts', 'rest/credentials.test.ts'],
      ],
      [
        'permission.no-key',
        'An order needs a trusted service.',
        `if (needed && !actor.service) {`,
        `if (needed && actor.service === null) {`,
        ['rest/orders.test.ts', 'rest/credentials.test.ts'],
      ],
    ],
  ),
  ...mutantsOf(
    'src/domain/account/session-statements.ts',
    ['rest/sessions.test.ts', 'graphql/sessions.test.ts'],
    [
      [
        'permission.revoke-foreign',
        'Nobody revokes another’s session.',
        `where t.id = $session and t.user_id = locked_user.id and \${standing}`,
        `where t.id = $session and \${standing}`,
      ],
      [
        'permission.revoke-others-keeps',
        'Revoking all other sessions keeps the one that asks.',
        `and t.id <> $session and`,
        `and ($session is not null) and`,
      ],
    ],
  ),
  ...mutantsOf(
    'src/domain/store/network-app-statements.ts',
    ['graphql/network-apps.test.ts'],
    [
      [
        'permission.unsold-listed',
        'Lists of network apps leave out what is not sold, but for administrators.',
        ` and (not $onlySold or deactivated_at is null)`,
        ` and (not $onlySold or $onlySold)`,
      ],
    ],
  ),
  ...mutantsOf(
    'src/domain/policy.ts',
    ['parity/acting-for-people.test.ts'],
    [
      [
        'permission.operator-only',
        'No administrator acts in a person’s place.',
        `if (actor.kind === 'system' && !actor.guest) return`,
        `if ((actor.kind === 'system' && !actor.guest) || canAdminister(actor)) return`,
      ],
      [
        'permission.operator-no-guest',
        'Who is shown something by a link is no operator.',
        `if (actor.kind === 'system' && !actor.guest) return`,
        `if (actor.kind === 'system') return`,
      ],
    ],
  ),
  ...mutantsOf(
    'src/domain/account/deletion-service.ts',
    ['parity/acting-for-people.test.ts'],
    [
      [
        'permission.operator-deletes',
        'Only an operator deletes the account of somebody else.',
        `assertOperator(actor)\n      const { userId, reason }`,
        `const { userId, reason }`,
      ],
      [
        'permission.operator-foresees',
        'Only an operator is told what somebody else would lose.',
        `assertOperator(actor)\n      return look`,
        `return look`,
      ],
      [
        'permission.deletion-noted',
        'That an operator deleted an account stands in the system’s trail.',
        `      if (reason !== null) await query(noteDeletion, { subject: toId('user', user), reason })\n`,
        ``,
      ],
    ],
  ),
  ...mutantsOf(
    'src/domain/account/export-service.ts',
    ['parity/acting-for-people.test.ts'],
    [
      [
        'permission.operator-exports',
        'Only an operator takes the export of somebody else.',
        `assertOperator(actor)\n      const { userId, reason }`,
        `const { userId, reason }`,
      ],
      [
        'permission.export-noted',
        'That an operator took an export stands in the trail of whose it is.',
        `await database.query(noteExportFor, { user, subject: toId('user', user), reason })`,
        `await database.query(noteExport, { user, address: '' })`,
      ],
      [
        'export.whole',
        'An export whose account is deleted meanwhile is not taken for the whole.',
        `    await readHead(user)\n    yield`,
        `    yield`,
      ],
    ],
  ),
  ...mutantsOf(
    'src/cli/person-commands.ts',
    ['parity/acting-for-people.test.ts'],
    [
      [
        'permission.deletion-asked',
        'A command deletes no account unless it is told to.',
        `if (!isMeant) {`,
        `if (!isMeant && json) {`,
      ],
    ],
  ),
  ...mutantsOf(
    'src/cli/confirm.ts',
    ['parity/acting-for-people.test.ts'],
    [
      [
        'permission.deletion-typed',
        'Nothing but the account’s name confirms its deletion.',
        `.trim() === expected`,
        `.trim() !== ''`,
      ],
      [
        'permission.deletion-nobody-there',
        'Where nobody sits at a terminal, nothing that comes in confirms a deletion.',
        `if (!stdin.isTTY) return false`,
        `if (stdin.destroyed) return false`,
      ],
    ],
  ),
  ...mutantsOf(
    'src/cli/new-file.ts',
    ['parity/acting-for-people.test.ts'],
    [['permission.export-private', 'An export is read by its owner alone.', `'wx', 0o600`, `'wx', 0o644`]],
  ),
  ...mutantsOf(
    'src/domain/account/lock-service.ts',
    ['parity/locked-accounts.test.ts'],
    [
      [
        'permission.lock-anybody',
        'Only an administrator locks accounts.',
        `    assertMay(actor, 'store:administer')\n    const input = parse(withReason, rawInput)`,
        `    assertMay(actor, 'account:read')\n    const input = parse(withReason, rawInput)`,
      ],
      [
        'permission.find-anybody',
        'Only an administrator looks for accounts.',
        `    assertMay(actor, 'store:administer')\n    const { search: asked }`,
        `    assertMay(actor, 'account:read')\n    const { search: asked }`,
      ],
      [
        'permission.lock-oneself',
        'Nobody locks themselves out.',
        `if (actor.kind === 'user' && actor.id === user) {`,
        `if (actor.kind === 'user' && actor.id === input.userId) {`,
      ],
    ],
  ),
  ...mutantsOf('src/domain/account/one-time-token-statements.ts', LOCKED_MAILS, [
    [
      'permission.locked-issue',
      'No link is mailed of an account that is locked.',
      `and locked_at is null for share`,
      `for share`,
    ],
    [
      'permission.locked-link',
      'No page opens by a link of an account that is locked.',
      `\n     and u.locked_at is null`,
      ``,
    ],
  ]),
  ...mutantsOf('src/domain/account/account-mail-statements.ts', LOCKED_MAILS, [
    [
      'permission.locked-waits',
      'An account that is locked takes no other’s place among those that wait for a link.',
      `deleted_at is null and locked_at is null\n     and (lower(pending_email)`,
      `deleted_at is null\n     and (lower(pending_email)`,
    ],
  ]),
  ...mutantsOf('src/domain/account/identity-statements.ts', LOCKED_MAILS, [
    [
      'permission.locked-verifies',
      'No address is verified of an account that is locked.',
      `where id = $user and deleted_at is null and locked_at is null`,
      `where id = $user and deleted_at is null`,
    ],
    [
      'permission.locked-address',
      'A change of address that is under way does not outrun the lock.',
      `deleted_at is null\n       and locked_at is null for no key update\n   ),\n   updated_user as (\n     update users u set email`,
      `deleted_at is null for no key update\n   ),\n   updated_user as (\n     update users u set email`,
      ['parity/locked-accounts.test.ts'],
    ],
  ]),
  ...mutantsOf(
    'src/domain/wallet/withdrawal-statements.ts',
    ['parity/locked-accounts.test.ts'],
    [
      [
        'permission.locked-withdraws',
        'A withdrawal that is under way does not outrun the lock.',
        `and u.deleted_at is null and u.locked_at is null for share of u`,
        `and u.deleted_at is null for share of u`,
      ],
    ],
  ),
  ...mutantsOf('src/domain/account/password-statements.ts', LOCKED_MAILS, [
    [
      'permission.locked-resets',
      'A reset that is under way does not outrun the lock.',
      `select id, email from users where id = $user and deleted_at is null and locked_at is null`,
      `select id, email from users where id = $user and deleted_at is null`,
    ],
    [
      'permission.locked-changes',
      'A change of the password that is under way does not outrun the lock.',
      `deleted_at is null and locked_at is null\n     returning`,
      `deleted_at is null\n     returning`,
      ['parity/locked-accounts.test.ts'],
    ],
  ]),
  ...mutantsOf('src/domain/account/lock-statements.ts', LOCKED_MAILS, [
    [
      'permission.lock-keeps-change',
      'Locking an account ends a change of its address that is under way.',
      `locked_at = now(), pending_email = null`,
      `locked_at = now()`,
    ],
    [
      'permission.unlock-revives-link',
      'No link of a locked account comes back.',
      `   \${endedLinksSql},\n   \${tellSql('account.unlocked')},`,
      `   \${tellSql('account.unlocked')},`,
    ],
  ]),
  ...mutantsOf(
    'src/domain/account/lock-statements.ts',
    ['parity/locked-accounts.test.ts'],
    [
      [
        'permission.lock-keeps-sessions',
        'Locking an account ends its sessions, also for the time after.',
        `deleted_tokens as (delete from access_tokens t using found_user where t.user_id = found_user.id),`,
        `deleted_tokens as (select 1),`,
      ],
      [
        'permission.unlock-revives',
        'No session of a locked account comes back.',
        `deleted_tokens as (delete from access_tokens t using updated_user where t.user_id = updated_user.id),`,
        `deleted_tokens as (select 1),`,
      ],
    ],
  ),
  ...mutantsOf(
    'src/domain/account/account-statements.ts',
    ['parity/locked-accounts.test.ts'],
    [
      [
        'permission.locked-session',
        'A session of a locked account is good for nothing, however it came to be.',
        `where (t.expires_at is null or t.expires_at > now()) and u.deleted_at is null and u.locked_at is null\`,\n)\n\n/**\n * The password's hash`,
        `where (t.expires_at is null or t.expires_at > now()) and u.deleted_at is null\`,\n)\n\n/**\n * The password's hash`,
      ],
    ],
  ),
  ...mutantsOf(
    'src/domain/account/account-service.ts',
    ['parity/locked-accounts.test.ts'],
    [
      [
        'permission.locked-signs-in',
        'The owner of a locked account is told so, and not let in.',
        `if (credentials.is_locked) throw accountLocked()`,
        `if (credentials.is_locked && email === '') throw accountLocked()`,
      ],
    ],
  ),
  ...mutantsOf(
    'src/domain/store/refund-service.ts',
    ['rest/refunds.test.ts'],
    [
      [
        'permission.refunds-of-an-order',
        'What was given back of an order is listed for its buyer and for administrators.',
        `const seen = canAdminister(actor) ? {} : visibleOrders(actor)`,
        `const seen = {}`,
      ],
    ],
  ),
  ...mutantsOf(
    'src/graphql/session.ts',
    ['contract/authorization.test.ts'],
    [
      [
        'permission.undecided-field',
        'Nothing is shown of which nobody said who may have it.',
        `    email: t.exposeString('email', {`,
        `    emailAgain: t.exposeString('email', { description: 'The same.' }),\n    email: t.exposeString('email', {`,
      ],
    ],
  ),
  ...mutantsOf(
    'src/rest/direct-routes.ts',
    ['contract/authorization.test.ts'],
    [
      [
        'permission.undecided-route',
        'Nothing is served of which nobody said who may have it.',
        `    probe('version',`,
        `    get('/versions', 'The same.', async ({ res }) => void res.end()),\n    probe('version',`,
      ],
    ],
  ),
  ...mutantsOf(
    'src/platform/content-credentials/content-credentials.ts',
    ['rest/time-stamps.test.ts'],
    [
      [
        'permission.c2pa-without-stamp',
        'A time-stamping authority that is away keeps nobody from a file.',
        `signed without')\n      return undefined`,
        `signed without')\n      throw error`,
      ],
    ],
  ),
  ...mutantsOf(
    'src/domain/asset/content-credentials-service.ts',
    ['processes/content-credentials.processes.ts'],
    [
      [
        'permission.c2pa-of-strangers',
        'A private file is given with Content Credentials to nobody but its owner.',
        `readableAssets(actor, linkedAsset)`,
        `visibleAssets({ kind: 'system' })`,
      ],
      [
        'permission.c2pa-link-no-more',
        'A link that is good no more takes nothing from what everybody sees.',
        `readableAssets(actor, linkedAsset)`,
        `(linkedAsset ? { id: linkedAsset, deletedAt: null } : readableAssets(actor, linkedAsset))`,
      ],
      [
        'permission.c2pa-link-against-owner',
        'A link to a private file is no way around what its owner says of files with Content Credentials.',
        `!(owns(actor, asset) ||`,
        `!(hasLink || owns(actor, asset) ||`,
      ],
      [
        'permission.c2pa-against-owner',
        'An owner says whether others get their files with Content Credentials.',
        `!(owns(actor, asset) || asset.owner.allowC2paDownload)`,
        `false`,
      ],
      [
        'permission.c2pa-outlives-commit',
        'A file with Content Credentials says what the newest commit says.',
        `c2paCid !== null && versions.includes(asset.c2paVersion ?? '')`,
        `c2paCid !== null`,
      ],
    ],
  ),
  ...mutantsOf(
    'src/domain/asset/manifest-report.ts',
    ['domain/manifest-report.test.ts'],
    [
      [
        'permission.c2pa-unnamed-trust',
        'Nobody is called trusted by a list that the operator did not name.',
        `return isJudged ? 'TRUSTED' : 'VALID'`,
        `return 'TRUSTED'`,
      ],
      [
        'permission.c2pa-broken-is-valid',
        'A manifest that does not fit its file is not called valid.',
        `return state === 'Valid' ? 'VALID' : 'INVALID'`,
        `return 'VALID'`,
      ],
      [
        'permission.c2pa-endless-text',
        'What a stranger wrote into a manifest is kept up to a bound.',
        `value.slice(0, reportBounds.text).toWellFormed()`,
        `value.toWellFormed()`,
      ],
    ],
  ),
  ...mutantsOf(
    'src/domain/event/event-fanout.ts',
    ['rest/events.test.ts'],
    [
      [
        'permission.ended-follower',
        'Whose session has ended without a notification is told nothing that came after it.',
        `    if (due.size > 0 && !isLooking) void read()`,
        `    if (due.size > 0) void read()`,
      ],
      [
        'permission.looked-at-first',
        'Sessions are looked at before feeds are read for them.',
        `    hasGap = true
    if (isLooking) return
`,
        `    hasGap = true
    grow(feeds.keys())
    if (isLooking) return
`,
      ],
    ],
  ),
]
