/** What of a lock file production needs. npm's own marks do not tell: a development dependency that a package may have for a peer counts as both. */

/** A package as `package-lock.json` (version 3) tells of it, as far as we read it. */
export interface LockedPackage {
  dependencies?: Record<string, string>
  devDependencies?: Record<string, string>
  optionalDependencies?: Record<string, string>
  peerDependencies?: Record<string, string>
  peerDependenciesMeta?: Record<string, { optional?: boolean }>
}

/** A lock file: packages by their folder, ours by the empty name. */
export interface Lock {
  packages: Record<string, LockedPackage>
}

const neededBy = ({ dependencies, optionalDependencies, peerDependencies, peerDependenciesMeta }: LockedPackage) => {
  const peers = Object.keys(peerDependencies ?? {}).filter((name) => !peerDependenciesMeta?.[name]?.optional)
  return [...Object.keys(dependencies ?? {}), ...Object.keys(optionalDependencies ?? {}), ...peers]
}

/** The folder in which Node finds `name` when it is asked for from `folder`. */
function findFrom({ packages }: Lock, folder: string, name: string): string | undefined {
  for (let above = folder; ; above = above.slice(0, Math.max(0, above.lastIndexOf('/node_modules/')))) {
    const found = `${above ? `${above}/` : ''}node_modules/${name}`
    if (found in packages) return found
    if (above === '') return undefined
  }
}

/** The lock file as it is without what only develops: ours and what is needed for it, without `devDependencies`. */
export function productionOf<T extends Lock>(lock: T): T {
  const needed = new Set([''])
  // What is added while it is gone through is gone through, too.
  for (const folder of needed) {
    for (const name of neededBy(lock.packages[folder] ?? {})) {
      const found = findFrom(lock, folder, name)
      if (found) needed.add(found)
    }
  }
  const packages = Object.fromEntries(Object.entries(lock.packages).filter(([folder]) => needed.has(folder)))
  const { devDependencies: _, ...own } = packages['']!
  return { ...lock, packages: { ...packages, '': own } }
}
