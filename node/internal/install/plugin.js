// parley's plugin for opencode. `parley agents install` writes it, `parley agents remove` takes it away.
import { spawn } from "node:child_process"

const hook = "@HOOK@"
const home = "@HOME@"
const patience = 1000 // milliseconds; the hook itself ends after 300

// ask passes one moment on and resolves to the node's answer. Whatever goes wrong means no opinion.
function ask(moment, input, output) {
  return new Promise((resolve) => {
    let timer
    const end = (answer) => {
      clearTimeout(timer)
      resolve(answer && typeof answer === "object" ? answer : {})
    }
    try {
      const child = spawn(hook, ["opencode", home], { stdio: ["pipe", "pipe", "ignore"] })
      let text = ""
      timer = setTimeout(() => {
        child.kill("SIGKILL")
        end({})
      }, patience)
      child.on("error", () => end({}))
      child.stdin.on("error", () => {})
      child.stdout.on("data", (part) => {
        if (text.length < 100000) text += part
      })
      child.on("close", () => {
        try {
          end(JSON.parse(text))
        } catch {
          end({})
        }
      })
      child.stdin.end(JSON.stringify({ hook: moment, directory, input, output }))
    } catch {
      end({})
    }
  })
}

// named are the arguments that say what a tool will touch; contents stay here.
function named(args) {
  const out = {}
  for (const key of ["filePath", "path", "command", "patchText"]) {
    if (typeof args?.[key] === "string") out[key] = args[key]
  }
  return out
}

// told are the calls that failed and were passed on: opencode tells of a part of a message several times.
const told = new Set()

// failed is a call that came to an error, as of one part of a message; undefined for any other.
function failed(part) {
  if (part?.type !== "tool" || part.state?.status !== "error" || told.has(part.callID)) return
  if (!["write", "edit", "multiedit", "patch", "apply_patch", "bash"].includes(part.tool)) return
  if (told.size > 1000) told.clear()
  told.add(part.callID)
  const { tool, sessionID, callID } = part
  return { tool, sessionID, callID, args: named(part.state.input) }
}

let directory = ""

export const Parley = async (context) => {
  directory = context?.directory ?? ""
  return {
    event: async ({ event }) => {
      if (event?.type === "message.part.updated") {
        const call = failed(event.properties?.part)
        if (call) await ask("event:tool.failed", call)
        return
      }
      if (!["session.created", "session.idle", "session.deleted"].includes(event?.type)) return
      const { sessionID, info } = event.properties ?? {}
      await ask("event:" + event.type, { sessionID, info: { id: info?.id, directory: info?.directory, parentID: info?.parentID } })
    },
    "chat.message": async (input, output) => {
      const parts = (output?.parts ?? []).filter((p) => p?.type === "text" && !p.synthetic)
      await ask("chat.message", { sessionID: input?.sessionID }, { parts: parts.map((p) => ({ type: "text", text: p.text })) })
    },
    "tool.execute.before": async (input, output) => {
      const { tool, sessionID, callID } = input
      const answer = await ask("tool.execute.before", { tool, sessionID, callID }, { args: named(output?.args) })
      if (answer.block) throw new Error(answer.block)
    },
    "tool.execute.after": async (input, output) => {
      const { tool, sessionID, callID, args } = input
      const answer = await ask("tool.execute.after", { tool, sessionID, callID, args: named(args) })
      if (answer.context && typeof output?.output === "string") output.output += "\n\n" + answer.context
    },
  }
}
