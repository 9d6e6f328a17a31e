#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Generates wrappers of MPI routines from data/trace/mpi.txt. The head of that table explains its
columns.

usage: gen-wrappers.py front TABLE OUT
       gen-wrappers.py wrap TABLE MPI_H... OUT

`front` writes names and slots, and needs no MPI. `wrap` writes the wrappers of the routines that
the given headers of an MPI declare.
"""
import collections
import pathlib
import re
import sys

Routine = collections.namedtuple("Routine", "number name group roles arguments")
Argument = collections.namedtuple("Argument", "name type text array")

GROUPS = {"mpi-point": "MPI_POINT", "mpi-collective": "MPI_COLLECTIVE",
          "mpi-completion": "MPI_COMPLETION", "mpi-rma": "MPI_RMA", "mpi-io": "MPI_IO",
          "mpi-other": "MPI_OTHER"}
BITS = {"persistent": "AS_TRACE_PERSISTENT", "synchronous": "AS_TRACE_SYNCHRONOUS",
        "buffered": "AS_TRACE_BUFFERED", "ready": "AS_TRACE_READY",
        "partitioned": "AS_TRACE_PARTITIONED"}
# Functions as_mpi_NAME of src/agent/wrap/mpi/mpi_wrap.h; generated lines use the short names.
HELPERS = """begin_world bytes_each bytes_near bytes_of cancel_request comm_number comm_rank
complete_all complete_one complete_some define_comm define_window
forget_comm forget_window is_ignored is_in_place store_message store_request
name_comm near_n new_request note_requests peers_n poll poll_probe emit_access
emit_collective emit_lock emit_matched emit_message emit_request emit_parts emit_probed
emit_received emit_started emit_sync emit_sync_group relate_begin relate_end requests_of_fortran
root_of share_of status_of_fortran statuses_for_fortran statuses_of statuses_of_fortran sum_of
remove_message""".split()
FROM_FORTRAN = {"MPI_Comm": "Comm", "MPI_Datatype": "Type", "MPI_Win": "Win",
                "MPI_Group": "Group", "MPI_Message": "Message", "MPI_Request": "Request"}


def full_names(text):
    return re.sub(rf"(?<!\w)({'|'.join(HELPERS)})\(", r"as_mpi_\1(", text)


def fail(where, what):
    sys.exit(f"gen-wrappers: {where}: {what}")


def read_argument(text):
    text = text.strip()
    found = re.match(r"(.*?)(\w+)\s*((?:\[\d*\])*)$", text)
    kind = found[1].strip()
    return Argument(found[2], kind.replace("const ", "").strip(), text, found[3])


def read_table(path):
    rows = []
    for n, line in enumerate(pathlib.Path(path).read_text(encoding="utf-8").splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        part = [piece.strip() for piece in line.split("|")]
        found = re.match(r"(MPI_\w+)\((.*)\)$", part[2]) if len(part) == 3 else None
        if not found or part[0] not in GROUPS:
            fail(f"{path}:{n}", "is no GROUP | ROLES | PROTOTYPE")
        inside = found[2].strip()
        arguments = [] if inside == "void" else [read_argument(a) for a in inside.split(",")]
        roles = [] if part[1] == "-" else [role.strip() for role in part[1].split(";")]
        rows.append(Routine(len(rows), found[1], part[0], roles, arguments))
    return rows


# ---- The front -------------------------------------------------------------------------------

FRONT = """/* Made by tools/gen-wrappers.py. */
#include "agent/wrap/mpi/mpi_front.h"
"""


def front_of(rows):
    n = len(rows)
    out = [FRONT, f"const size_t as_mpi_routines_n = {n};",
           f'_Static_assert({n} <= AS_MPI_ROUTINES_MOST, "room for all");',
           "const char *const as_mpi_name[] = {"]
    out += [f'    "{r.name}",' for r in rows]
    out += ["};", "const char *const as_mpi_name_fortran[] = {"]
    out += [f'    "{r.name.lower()}_",' for r in rows]
    out += ["};", "__asm__(", r'    ".text\n"']

    def jump(names, table, k):
        for name in names:
            out.append(rf'    ".globl {name}\n.type {name}, @function\n{name}:\n"')
        out.append(rf'    "    jmp *{table}+{8 * k}(%rip)\n"')

    for r in rows:
        jump([r.name], "as_mpi_slot", r.number)
        low = r.name.lower()
        jump([low + "_", "o" + low + "_f"], "as_mpi_slot_fortran", r.number)
        jump(["P" + r.name], "as_mpi_slot_profiling", r.number)
    for r in rows:
        out.append(rf'    "as_mpi_late_{r.number}: pushq ${r.number}\n    jmp as_mpi_late\n"')
        out.append(rf'    "as_mpi_late_f{r.number}: pushq ${r.number + n}\n    jmp as_mpi_late\n"')
        late = f"as_mpi_late_p{r.number}: pushq ${r.number + 2 * n}"
        out.append(rf'    "{late}\n    jmp as_mpi_late\n"')
    saved = ["rax", "rdi", "rsi", "rdx", "rcx", "r8", "r9"]
    out.append(r'    "as_mpi_late:\n"')
    out += [rf'    "    pushq %{name}\n"' for name in saved]
    out.append(r'    "    subq $8, %rsp\n    call as_mpi_resolve\n    addq $8, %rsp\n"')
    out += [rf'    "    popq %{name}\n"' for name in reversed(saved)]
    # The tables follow each other.
    out.append(r'    "    popq %r11\n    leaq as_mpi_slot(%rip), %r10\n    jmp *(%r10,%r11,8)\n"')
    out.append(r'    ".data\n.balign 8\n.globl as_mpi_slot\n.hidden as_mpi_slot\nas_mpi_slot:\n"')
    out += [rf'    ".quad as_mpi_late_{r.number}\n"' for r in rows]
    out.append(r'    ".globl as_mpi_slot_fortran\n.hidden as_mpi_slot_fortran\n"')
    out.append(r'    "as_mpi_slot_fortran:\n"')
    out += [rf'    ".quad as_mpi_late_f{r.number}\n"' for r in rows]
    out.append(r'    ".globl as_mpi_slot_profiling\n.hidden as_mpi_slot_profiling\n"')
    out.append(r'    "as_mpi_slot_profiling:\n"')
    out += [rf'    ".quad as_mpi_late_p{r.number}\n"' for r in rows]
    out.append(r'    ".text\n");')
    return "\n".join(out) + "\n"


# ---- Wrappers --------------------------------------------------------------------------------

def amount_of_parts(which, counts, types, factors, call):
    """Parts of sizes of their own, for all members or neighbours; of one type or each of its."""
    kind = factors[0] if not types else \
        f"Type_of_fortran(&{types}[each_i])" if call.fortran else f"{types}[each_i]"
    if which == "each":
        return f"bytes_each(peers_n(comm), {counts}, {kind})"
    return f"bytes_near(&call, comm, {str(which == 'out').lower()}, {counts}, {kind})"


def amount(text, call):
    """C for an AMOUNT of bytes; the communicator is `comm`."""
    words = text.split()
    guard = []
    if not words or words == ["-"]:
        return "0"
    if call.rooted and "@root" not in words:
        guard.append("is_member")
    for word in words[:-1]:
        if word == "@root":
            guard.append("is_root")
        elif word == "@others":
            guard.append("!is_root")
        elif word.startswith("!"):
            guard.append(f"!is_in_place({word[1:]})")
    factors = words[-1].split("*")
    found = re.match(r"(each|in|out)\((\w+)(?:,(\w+))?\)$", factors[0])
    if found:
        text = amount_of_parts(found[1], found[2], found[3], factors[1:], call)
        return f"({' && '.join(guard)} ? {text} : 0)" if guard else text
    found = re.match(r"(sum|own)\((\w+)\)$", factors[0])
    if found and found[1] == "sum":
        count = f"sum_of({found[2]}, peers_n(comm))"
    elif found:
        count = f"{found[2]}[comm_rank(comm)]"
    else:
        count = factors[0]
    text = f"bytes_of((long long)({count}), {factors[1]})"
    if factors[2:] == ["n"]:
        text += " * peers_n(comm)"
    elif factors[2:] == ["partitions"]:
        text += " * partitions"
    elif factors[2:]:
        text += f" * near_n(&call, comm, {str(factors[2] == 'out').lower()})"
    return f"({' && '.join(guard)} ? {text} : 0)" if guard else text


def bits_of(verb):
    bits = [BITS[word] for word in verb.split("+")[1:] if word in BITS]
    return " | ".join(bits) or "0"


def none(word, other):
    return other if word == "-" else word


class Roles:
    """The code that the roles of a routine add before and after the call, over arguments with their
    C names."""

    def __init__(self, routine, fortran):
        self.before, self.after, self.used, self.outputs = [], [], set(), {}
        self.always = []  # before the call, recorded or not
        self.routine, self.fortran, self.own_status = routine, fortran, None
        self.array = self.poll = None
        self.rooted = False
        for role in routine.roles:
            verb, _, rest = role.partition(" ")
            getattr(self, "do_" + verb.split("+")[0])(verb, rest.split())

    def use(self, *names):
        self.used.update(re.findall(r"[A-Za-z_]\w*", " ".join(names)))

    def do_send(self, verb, a, request="0"):
        size = amount(a[0], self)
        self.use(a[0], *a[1:4])
        line = (f"emit_message(&call, AS_TRACE_SEND, {a[1]}, {a[2]}, {size}, {a[3]}, {request}, "
                f"{bits_of(verb)});")
        (self.before if request == "0" else self.after).append(line)

    def immediate(self, kind, verb, a):
        self.use(a[0], *a[1:4])
        self.outputs[a[4]] = "MPI_Request"
        keep = "REQUEST_SEND" if kind == "AS_TRACE_SEND" else \
            "REQUEST_OTHER" if "+partitioned" in verb else "REQUEST_RECEIVE"  # without a status
        self.before.append("const uint64_t number = new_request();")
        self.before.append(f"emit_message(&call, {kind}, {a[1]}, {a[2]}, {amount(a[0], self)}, "
                           f"{a[3]}, number, {bits_of(verb)});")
        self.after.append(f"store_request(&call, *{a[4]}, number, {keep}, "
                          f"comm_number(&call, {a[3]}), {str('+persistent' in verb).lower()}, rc);")

    def do_isend(self, verb, a):
        self.immediate("AS_TRACE_SEND", verb, a)

    def do_irecv(self, verb, a):
        self.immediate("AS_TRACE_POST", verb, a)

    def do_recv(self, verb, a):
        self.use(a[0], *a[1:4])
        self.own_status = a[4]
        self.before.append(f"emit_message(&call, AS_TRACE_POST, {a[1]}, {a[2]}, "
                           f"{amount(a[0], self)}, {a[3]}, 0, 0);")
        self.after.append(f"emit_received(&call, {a[4]}, comm_number(&call, {a[3]}), 0, rc);")

    def do_mrecv(self, verb, a):
        self.own_status = a[2]
        self.use(a[1])
        self.before.append(f"const uint64_t matched = remove_message(*{a[1]});")
        self.after.append(f"emit_received(&call, {a[2]}, matched, 0, rc);")

    def do_imrecv(self, verb, a):
        self.use(a[0], a[1])
        self.outputs[a[2]] = "MPI_Request"
        self.before += [f"const uint64_t matched = remove_message(*{a[1]});",
                        "const uint64_t number = new_request();",
                        f"emit_matched(&call, {amount(a[0], self)}, matched, number);"]
        self.after.append(f"store_request(&call, *{a[2]}, number, REQUEST_RECEIVE, matched, false, "
                          "rc);")

    def do_probe(self, verb, a):
        self.own_status = a[4]
        if a[3] != "-":
            self.use(*a[:3])
            self.poll = (f"*{a[3]} == 0", f"poll_probe(&call, {self.routine.number}, "
                         f"{', '.join(a[:3])});")
        else:
            self.use(a[2])
        self.after.append(f"emit_probed(&call, {a[4]}, {a[2]}, rc);")

    def do_poll(self, verb, a):
        self.poll = (f"*{a[0]} == 0", f"poll(&call, {self.routine.number});")

    def do_message(self, verb, a):
        self.use(a[1])
        self.outputs[a[0]] = "MPI_Message"
        self.after.append(f"store_message(&call, *{a[0]}, {a[1]}, rc);")

    def do_request(self, verb, a):
        self.outputs[a[0]] = "MPI_Request"
        self.before.append("const uint64_t number = new_request();")
        self.after.append(f"store_request(&call, *{a[0]}, number, REQUEST_OTHER, 0, false, rc);")

    def do_wait(self, verb, a):
        n = none(a[0], "1")
        self.use(n)
        self.array = (n, a[1], a[5])
        one = a[2] != "-" or a[0] == "-"  # one status
        self.before.append(f"struct as_mpi_note *note = note_requests(&call, {n}, {a[1]});")
        done = "rc == MPI_SUCCESS"
        found = {"wait+flag": "*flag", "wait+some": f"*{a[3]}"}.get(verb)
        if found:
            self.do_poll(verb, [found[1:]])
        base = int(self.fortran)
        if a[2] != "-":
            self.after.append(f"if ({done})\n        complete_one(&call, note, {n}, "
                              f"*{a[2]} - {base}, {a[5]});")
        elif a[3] != "-":
            self.after.append(f"if ({done})\n        complete_some(&call, note, {n}, *{a[3]}, "
                              f"{a[4]}, {base}, {a[5]});")
        else:
            self.after.append(f"if ({done})\n        complete_all(&call, note, {n}, {a[5]});")
        self.one = one

    def do_ready(self, verb, a):
        self.use(*a)
        self.before.append(f"emit_parts(&call, {a[1]}, {a[0]});")

    def do_start(self, verb, a):
        n = none(a[0], "1")
        self.use(n)
        self.array = (n, a[1], None)
        self.before.append(f"emit_started(&call, {n}, {a[1]});")

    def do_cancel(self, verb, a):
        self.array = ("1", a[0], None)
        self.before.append(f"cancel_request(*{a[0]});")

    def do_free(self, verb, a):
        self.array = ("1", a[0], None)
        self.before.append(f"emit_request(&call, AS_TRACE_FREED, *{a[0]}, true);")

    def do_coll(self, verb, a):
        found = re.match(r"(\S+) comm (\S+), sent (.*), received (.*)$", " ".join(a))
        request, root, sent, received = found.groups()
        self.use("comm", root, sent, received)
        number = "0"
        self.rooted = root != "-"
        if self.rooted:
            self.before += [f"const unsigned share = share_of({root}, comm);",
                            "const bool is_root = share & AS_MPI_ROOT_SHARE;",
                            "const bool is_member = share & AS_MPI_MEMBER_SHARE;",
                            "(void)is_root, (void)is_member;"]
        if "@others" in received and "@root" not in sent:
            fail(self.routine.name, "others without a root")
        if request != "-":
            number = "number"
            self.outputs[request] = "MPI_Request"
            self.before.append("const uint64_t number = new_request();")
        at_root = f"root_of({root})" if self.rooted else "AS_TRACE_NO_ROOT"
        self.before.append(f"emit_collective(&call, comm, {number}, {at_root}, "
                           f"{amount(sent, self)}, {amount(received, self)}, {bits_of(verb)});")
        if request != "-":
            persistent = str("+persistent" in verb).lower()
            self.after.append(f"store_request(&call, *{request}, number, REQUEST_OTHER, "
                              f"comm_number(&call, comm), {persistent}, rc);")

    def do_newcomm(self, verb, a):
        self.outputs[a[0]] = "MPI_Comm"
        self.after.append(f"if (rc == MPI_SUCCESS)\n        define_comm(&call, *{a[0]});")

    def do_freecomm(self, verb, a):
        self.outputs_in(a[0], "MPI_Comm")
        self.before.append(f"forget_comm(&call, *{a[0]});")

    def do_namecomm(self, verb, a):
        if not self.fortran:
            self.use(a[0])
            self.after.append(f"name_comm(&call, {a[0]}, {a[1]});")

    def do_init(self, verb, a):
        self.after.append("if (rc == MPI_SUCCESS)\n        begin_world(&call);")
        self.after += ["if (rc == MPI_SUCCESS)\n        relate_begin();", "stamp_call(&call);"]

    def do_finalize(self, verb, a):
        """Also where it is not recorded: others wait for it."""
        self.always.append("relate_end();")

    def do_rma(self, verb, a):
        self.use(*a)
        self.before.append(f"emit_access(&call, {a[1]}, {amount(a[0], self)}, {a[2]});")

    def do_sync(self, verb, a):
        """Before the call, but of one that says behind it whether it found something."""
        rank = none(a[1], "AS_MPI_NO_RANK")
        self.use(rank, a[2])
        helper = "emit_sync_group" if verb == "sync+group" else "emit_sync"
        (self.after if self.poll else self.before).append(
            f"{helper}(&call, AS_TRACE_{a[0]}, {rank}, {a[2]});")

    def do_lock(self, verb, a):
        kind, rank = none(a[0], "MPI_LOCK_SHARED"), none(a[1], "AS_MPI_NO_RANK")
        self.use(kind, rank, a[2], a[3])
        self.before.append(f"emit_lock(&call, {kind}, {rank}, {a[2]}, {a[3]});")

    def do_freewin(self, verb, a):
        self.outputs_in(a[0], "MPI_Win")
        self.before.append(f"forget_window(&call, *{a[0]});")

    def do_newwin(self, verb, a):
        self.use(a[1])
        self.outputs[a[0]] = "MPI_Win"
        self.after.append("if (rc == MPI_SUCCESS)\n"
                          f"        define_window(&call, *{a[0]}, {a[1]});")

    def outputs_in(self, name, kind):
        """Read before the call through a pointer."""
        self.inputs = getattr(self, "inputs", {})
        self.inputs[name] = kind


def prototype(routine):
    return ", ".join(a.text for a in routine.arguments) or "void"


def entering(r, roles, calling, leaving):
    """The head of a wrapper: what is not recorded is passed on. Polls are, when they failed."""
    enter = f"enter_{'poll' if roles.poll else 'call'}(&call, {r.number})"
    return ["{", "    struct as_mpi_call call = {CALLED_FROM};", f"    if (!{enter}) {{",
            *(f"        {line}" for line in roles.always),
            f"        {calling}", "        leave_unrecorded(&call);", *leaving, "    }",
            *(f"    {line}" for line in roles.always)]


def polling(r, roles, result):
    """Behind the call: nothing was found, or else all is recorded as of other calls."""
    if not roles.poll:
        return []
    condition, line = roles.poll
    return [f"    if (rc == MPI_SUCCESS && {condition}) {{", f"        {line}",
            "        leave_poll(&call);", f"        return{result};", "    }",
            f"    begin_call(&call, {r.number});"]


def wrapper_in_c(r):
    roles = Roles(r, False)
    names = ", ".join(a.name for a in r.arguments)
    real = f"((int (*)({prototype(r)}))real_c[{r.number}])"
    out = [f"static int c_{r.name}({prototype(r)})"]
    out += entering(r, roles, f"const int rc = {real}({names});", ["        return rc;"])
    if roles.own_status:
        out += ["    MPI_Status own_status;",
                f"    if ({roles.own_status} == MPI_STATUS_IGNORE)",
                f"        {roles.own_status} = &own_status;"]
    if roles.array and roles.array[2]:
        n, _, statuses = roles.array
        if roles.one:
            out += ["    MPI_Status own_status;",
                    f"    if ({statuses} == MPI_STATUS_IGNORE)",
                    f"        {statuses} = &own_status;"]
        else:
            out += [f"    {statuses} = statuses_of(&call, {n}, {statuses});"]
    out += [f"    {line}" for line in roles.before]
    out += [f"    const int rc = {real}({names});", "    stamp_call(&call);"]
    out += polling(r, roles, " rc")
    out += [f"    {line}" for line in roles.after]
    out += [f"    leave_call(&call, {r.number});", "    return rc;", "}"]
    return full_names("\n".join(out))


def is_text(a):
    return a.type.split()[0] == "char"


def fortran_arguments(r):
    """Init has no argc and argv."""
    dropped = ("argc", "argv") if r.name.startswith("MPI_Init") else ()
    return [a for a in r.arguments if a.name not in dropped]


def wrapper_in_fortran(r):
    roles = Roles(r, True)
    arguments = fortran_arguments(r)
    lengths = [f"size_t length_{a.name}" for a in arguments if is_text(a)]
    given = [f"void *f_{a.name}" for a in arguments] + ["MPI_Fint *ierr"] + lengths
    names = [f"f_{a.name}" for a in arguments] + ["ierr"] + \
        [f"length_{a.name}" for a in arguments if is_text(a)]
    types = ", ".join(["void *"] * len(arguments) + ["MPI_Fint *"] + ["size_t"] * len(lengths))
    real = f"((void (*)({types}))real_f[{r.number}])"
    call = f"{real}({', '.join(names)});"
    out = [f"static void f_{r.name}({', '.join(given)})"]
    out += entering(r, roles, call, ["        return;"])
    inputs = getattr(roles, "inputs", {})
    said = roles.before + roles.after + list(roles.poll or [])
    for a in arguments:
        if roles.array and a.name in roles.array[1:]:
            continue
        if a.name in roles.outputs:
            out += [f"    {roles.outputs[a.name]} c_{a.name}, *{a.name} = &c_{a.name};"]
            if a.name in roles.used:
                out += [f"    c_{a.name} = {FROM_FORTRAN[roles.outputs[a.name]]}_of_fortran("
                        f"f_{a.name});"]
        elif a.name in inputs or (a.name in roles.used and a.type == "MPI_Message *"):
            kind = inputs.get(a.name, "MPI_Message")
            out += [f"    {kind} c_{a.name} = {FROM_FORTRAN[kind]}_of_fortran(f_{a.name}), "
                    f"*{a.name} = &c_{a.name};"]
        elif a.name == roles.own_status:
            out += [f"    MPI_Fint own_{a.name}[8];", f"    MPI_Status c_{a.name}, *{a.name} = "
                    f"&c_{a.name};", f"    if (is_ignored(f_{a.name}))",
                    f"        f_{a.name} = own_{a.name};"]
        elif a.name in roles.used or any(re.search(rf"[*(]{a.name}\b|\b{a.name}\[", line)
                                         for line in said):
            if a.type in FROM_FORTRAN and not a.array:
                out += [f"    const {a.type} {a.name} = {FROM_FORTRAN[a.type]}_of_fortran("
                        f"f_{a.name});"]
            elif a.array or a.type.endswith("*"):
                kind = "const void" if a.type.startswith("void") else "const int"
                out += [f"    {kind} *{a.name} = f_{a.name};"]
            else:
                out += [f"    const int {a.name} = *(const MPI_Fint *)f_{a.name};"]
        elif any(re.search(rf"\b{a.name}\b", line) for line in said):
            out += [f"    const int *{a.name} = f_{a.name};"]
    late = []
    if roles.array:
        n, requests, statuses = roles.array
        out += [f"    MPI_Request *{requests} = requests_of_fortran(&call, {n}, f_{requests});"]
        if statuses:
            out += [f"    f_{statuses} = statuses_for_fortran(&call, {n}, f_{statuses});"]
            late += [f"    MPI_Status *{statuses} = statuses_of_fortran(&call, {n}, "
                     f"f_{statuses});"]
    out += [f"    {line}" for line in roles.before]
    out += [f"    {call}", "    stamp_call(&call);",
            "    const int rc = ierr ? *ierr : MPI_SUCCESS;", "    (void)rc;"]
    out += polling(r, roles, "")
    out += [f"    c_{name} = {FROM_FORTRAN[kind]}_of_fortran(f_{name});"
            for name, kind in roles.outputs.items()]
    if roles.own_status:
        out += [f"    status_of_fortran(f_{roles.own_status}, &c_{roles.own_status});"]
    out += late + [f"    {line}" for line in roles.after]
    out += [f"    leave_call(&call, {r.number});", "}"]
    return full_names("\n".join(out))


def wrap_of(rows, headers):
    text = "\n".join(pathlib.Path(path).read_text(encoding="utf-8", errors="replace")
                     for path in headers if pathlib.Path(path).exists())
    there = set(re.findall(r"\b(MPI_\w+)\s*\(", text))
    rows_there = [r for r in rows if r.name in there]
    out = ["/* Made by tools/gen-wrappers.py. */"]
    out += [f"#define ROUTINES_N {len(rows)}", "static const struct mpi_routine routine[] = {"]
    out += [f'    {{"{r.name}", AS_TRACE_OF_{GROUPS[r.group]}}},' for r in rows] + ["};"]
    for r in rows_there:
        out.append(wrapper_in_c(r))
    out.append("#ifdef OPEN_MPI")
    in_fortran = [r for r in rows_there if not r.name.endswith("_c")]
    for r in in_fortran:
        out.append(wrapper_in_fortran(r))
    out.append("#endif")
    out += ["static const struct mpi_wrapper wrapper[] = {"]
    for r in rows_there:
        out.append(f"    {{{r.number}, (void (*)(void))c_{r.name}}},")
    out += ["};", "#ifdef OPEN_MPI", "static const struct mpi_wrapper wrapper_fortran[] = {"]
    for r in in_fortran:
        out.append(f"    {{{r.number}, (void (*)(void))f_{r.name}}},")
    out += ["};", "#endif"]
    return "\n".join(out) + "\n"


def main():
    if len(sys.argv) == 4 and sys.argv[1] == "front":
        text = front_of(read_table(sys.argv[2]))
    elif len(sys.argv) > 4 and sys.argv[1] == "wrap":
        text = wrap_of(read_table(sys.argv[2]), sys.argv[3:-1])
    else:
        sys.exit(__doc__)
    pathlib.Path(sys.argv[-1]).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
