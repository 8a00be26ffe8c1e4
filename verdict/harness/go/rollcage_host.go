package main

// Runs the solution's functions for the judge, which asks over descriptor 3. It knows no test and
// no expected value, and what it says is data in the judge's own types.

import (
	"fmt"
	"os"
	"reflect"
	"runtime/debug"
)

type rollcageRequest struct {
	Call string        `json:"call"`
	Args []interface{} `json:"args"`
}

func init() {
	socket := rollcageFile(3, "socket")
	debug.SetMaxStack(512 << 20)
	for {
		var request rollcageRequest
		if rollcageReceive(socket, &request) != nil {
			os.Exit(0)
		}
		reply := map[string]interface{}{"ok": nil}
		if request.Call != "" {
			reply = rollcageServe(request)
		}
		if rollcageSend(socket, reply) != nil {
			os.Exit(0)
		}
	}
}

func rollcageServe(request rollcageRequest) (reply map[string]interface{}) {
	defer func() {
		if thrown := recover(); thrown != nil {
			reply = rollcageThrown(thrown)
		}
	}()
	function := reflect.ValueOf(rollcageFunctions[request.Call])
	kind := function.Type()
	args := make([]reflect.Value, kind.NumIn())
	for at := range args {
		args[at] = rollcageGet(request.Args[at], kind.In(at), 0)
	}
	var results []reflect.Value
	if kind.IsVariadic() {
		results = function.CallSlice(args)
	} else {
		results = function.Call(args)
	}
	return map[string]interface{}{"ok": rollcagePutAll(results), "args": rollcagePutAll(args)}
}

func rollcageThrown(thrown interface{}) map[string]interface{} {
	if cannot, is := thrown.(rollcageCannotCross); is {
		return map[string]interface{}{"cannot": cannot.why}
	}
	text := "a value"
	func() {
		defer func() { _ = recover() }()
		text = fmt.Sprint(thrown)
	}()
	return map[string]interface{}{"panic": text}
}

func rollcagePutAll(values []reflect.Value) []interface{} {
	trees := make([]interface{}, len(values))
	for at, value := range values {
		trees[at] = rollcagePut(value, 0)
	}
	return trees
}
