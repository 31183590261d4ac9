/** The environment for npm in another folder, without the variables that npm sets for its scripts. */
export const npmEnvironment: NodeJS.ProcessEnv = Object.fromEntries(
  Object.entries(process.env).filter(([name]) => !/^npm_(lifecycle|package|config_local_prefix)/.test(name)),
)
