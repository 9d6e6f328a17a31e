/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where CPython 3.11 keeps what the sampler reads: offsets in bytes of its structures on x86-64
 * (Include/internal/pycore_runtime.h, pycore_interp.h, pycore_frame.h, cpython/code.h and
 * cpython/pystate.h of 3.11). Another version has other ones. A test compares them with the headers
 * of python3.11-dev.
 */
#ifndef AS_AGENT_PYTHON_LAYOUT_H
#define AS_AGENT_PYTHON_LAYOUT_H

/* X(name, structure, member, offset) */
#define AS_PYTHON_LAYOUT(X)                                                                        \
    X(RUNTIME_INITIALIZED, _PyRuntimeState, initialized, 16)                                       \
    X(RUNTIME_INTERPRETERS, _PyRuntimeState, interpreters.head, 40)                                \
    X(RUNTIME_CURRENT, _PyRuntimeState, gilstate.tstate_current, 576)                              \
    X(RUNTIME_KEY, _PyRuntimeState, gilstate.autoTSSkey, 592)                                      \
    X(KEY_INITIALIZED, Py_tss_t, _is_initialized, 0)                                               \
    X(KEY_NUMBER, Py_tss_t, _key, 4)                                                               \
    X(INTERPRETER_NEXT, PyInterpreterState, next, 0)                                               \
    X(INTERPRETER_THREADS, PyInterpreterState, threads.head, 16)                                   \
    X(INTERPRETER_RUNTIME, PyInterpreterState, runtime, 40)                                        \
    X(THREAD_NEXT, PyThreadState, next, 8)                                                         \
    X(THREAD_INTERPRETER, PyThreadState, interp, 16)                                               \
    X(THREAD_CFRAME, PyThreadState, cframe, 56)                                                    \
    X(THREAD_ID, PyThreadState, thread_id, 152)                                                    \
    X(THREAD_ROOT, PyThreadState, root_cframe, 336)                                                \
    X(CFRAME_CURRENT, _PyCFrame, current_frame, 8)                                                 \
    X(CFRAME_PREVIOUS, _PyCFrame, previous, 16)                                                    \
    X(FRAME_CODE, _PyInterpreterFrame, f_code, 32)                                                 \
    X(FRAME_PREVIOUS, _PyInterpreterFrame, previous, 48)                                           \
    X(FRAME_INSTRUCTION, _PyInterpreterFrame, prev_instr, 56)                                      \
    X(FRAME_IS_ENTRY, _PyInterpreterFrame, is_entry, 68)                                           \
    X(OBJECT_TYPE, PyObject, ob_type, 8)                                                           \
    X(OBJECT_SIZE, PyVarObject, ob_size, 16)                                                       \
    X(CODE_FIRST_LINE, PyCodeObject, co_firstlineno, 72)                                           \
    X(CODE_FILE, PyCodeObject, co_filename, 112)                                                   \
    X(CODE_NAME, PyCodeObject, co_qualname, 128)                                                   \
    X(CODE_TABLE, PyCodeObject, co_linetable, 136)                                                 \
    X(CODE_BYTES, PyCodeObject, co_code_adaptive, 184)                                             \
    X(BYTES_DATA, PyBytesObject, ob_sval, 32)                                                      \
    X(TEXT_LENGTH, PyASCIIObject, length, 16)                                                      \
    X(TEXT_STATE, PyASCIIObject, state, 32)

#define AS_PYTHON_OFFSET(name, structure, member, offset) AS_PYTHON_##name = (offset),
enum as_python_offset { AS_PYTHON_LAYOUT(AS_PYTHON_OFFSET) };
#undef AS_PYTHON_OFFSET

/* Characters of a compact text stand behind its head: of ASCII, and of others. */
#define AS_PYTHON_ASCII_B   48u
#define AS_PYTHON_COMPACT_B 72u
#define AS_PYTHON_FRAME_B   80u
#define AS_PYTHON_CFRAME_B  24u

#endif
